//! What a launch asks for on its command line: `--permission execute=ask,default=auto_deny --lifetime 2m`.

use std::time::Duration;

use bridge_model::ToolKind;
use policy::{Key, Launch, Verdict};

const TITLE: &str = "title:";

/// Verdicts as one `--permission` has them. `ask` alone is the default's, `title:TEXT=auto_deny` stands by itself, since a
/// title may have any character in it. The error says what to write instead.
pub fn permissions(text: &str) -> Result<Vec<(Key, Verdict)>, String> {
    if text.starts_with(TITLE) {
        return Ok(vec![permission(text)?]);
    }
    text.split(',').map(|part| permission(part.trim())).collect()
}

fn permission(text: &str) -> Result<(Key, Verdict), String> {
    let (key, verdict) = text.rsplit_once('=').unwrap_or(("default", text));
    let verdict = Verdict::named(verdict.trim())
        .ok_or_else(|| format!("{:?} is not a verdict: use {}", verdict.trim(), Verdict::ALL.map(Verdict::name).join(", ")))?;
    let key = match (key.strip_prefix(TITLE), key.trim()) {
        (Some(title), _) if title.trim() != title => {
            return Err(format!(
                "the title {title:?} begins or ends with a space; write title:TEXT=VERDICT without any around TEXT"
            ));
        }
        (Some(title), _) => Key::Title(title.to_owned()),
        (None, "default") => Key::Default,
        (None, name) => Key::Kind(ToolKind::named(name).ok_or_else(|| {
            let kinds = ToolKind::ALL.map(ToolKind::name).join(", ");
            format!("{name:?} is not a tool kind: use {kinds}, default or title:TEXT")
        })?),
    };
    Ok((key, verdict))
}

/// All of it together; of two verdicts on one key the stricter.
#[must_use]
pub fn launch(permissions: impl IntoIterator<Item = (Key, Verdict)>, lifetime: Option<Duration>) -> Launch {
    let mut launch = Launch { lifetime, ..Launch::default() };
    for (key, verdict) in permissions {
        let stricter = |other: Option<Verdict>| other.map_or(verdict, |other| other.max(verdict));
        let verdicts = &mut launch.verdicts;
        match key {
            Key::Title(title) => {
                let stricter = stricter(verdicts.by_title.get(&title).copied());
                verdicts.by_title.insert(title, stricter);
            }
            Key::Kind(kind) => {
                let stricter = stricter(verdicts.by_kind.get(&kind).copied());
                verdicts.by_kind.insert(kind, stricter);
            }
            Key::Default => verdicts.default = Some(stricter(verdicts.default)),
        }
    }
    launch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_by_their_keys() {
        use Verdict::{Ask, AutoAllow, AutoDeny};
        let kind = Key::Kind;
        for (text, expected) in [
            ("ask", vec![(Key::Default, Ask)]),
            ("execute=ask,default=auto_deny", vec![(kind(ToolKind::Execute), Ask), (Key::Default, AutoDeny)]),
            (" read = auto_allow , other=ask", vec![(kind(ToolKind::Read), AutoAllow), (kind(ToolKind::Other), Ask)]),
            ("title:a=b, c= auto_deny", vec![(Key::Title("a=b, c".into()), AutoDeny)]),
        ] {
            assert_eq!(permissions(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_verdict_or_no_key_is_said() {
        for (text, said) in [
            ("", "\"\" is not a verdict: use auto_allow, ask, auto_deny"),
            ("title:make test = auto_deny", "the title \"make test \" begins or ends with a space"),
            ("execute", "\"execute\" is not a verdict: use auto_allow, ask, auto_deny"),
            ("execute=allow", "\"allow\" is not a verdict: use auto_allow, ask, auto_deny"),
            ("exceute=ask", "\"exceute\" is not a tool kind: use read, edit,"),
            ("execute=ask,", "\"\" is not a verdict"),
            ("title:make", "\"title:make\" is not a verdict"),
        ] {
            let problem = permissions(text).expect_err(text);
            assert!(problem.starts_with(said), "{text:?}: {problem}");
        }
    }

    #[test]
    fn of_two_verdicts_the_stricter_counts() {
        let twice = permissions("execute=auto_deny,execute=ask,auto_deny,ask").expect("verdicts");
        let launch = launch(twice, Some(Duration::from_secs(9)));
        assert_eq!(launch.verdicts.by_kind, [(ToolKind::Execute, Verdict::AutoDeny)].into());
        assert_eq!((launch.verdicts.default, launch.lifetime), (Some(Verdict::AutoDeny), Some(Duration::from_secs(9))));
    }
}
