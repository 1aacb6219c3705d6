//! How we say no with what the agent offered.

use bridge_model::{OptionKind, Options, Outcome};

/// Which refusal an agent gets when no person chose one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalStyle {
    /// The agent's own `reject_once` option where it offered one, else `cancelled`. Most agents then go on with the
    /// turn; the model is told that it was refused.
    RejectOnce,
    /// Always `cancelled`. Some agents end the turn on it.
    Cancelled,
}

impl RefusalStyle {
    /// Never an allowing option, never `reject_always`, which would outlive the request, never an id that was not
    /// offered. Of several `reject_once` options the agent's first is taken: agents put "no" before "no, and stop".
    #[must_use]
    pub fn refusal(self, options: &Options) -> Outcome {
        match self {
            Self::Cancelled => Outcome::Cancelled,
            Self::RejectOnce => {
                let at = options.as_slice().iter().position(|option| option.kind == OptionKind::RejectOnce);
                at.and_then(|at| options.offered(at)).map_or(Outcome::Cancelled, Outcome::Selected)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bridge_model::{OptionId, PermissionOption};
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn the_agents_own_reject_once_refuses() {
        check(RefusalStyle::RejectOnce, &["allow_once", "reject_once"], Some(1));
        check(RefusalStyle::RejectOnce, &["reject_once", "allow_once"], Some(0));
        check(RefusalStyle::RejectOnce, &["allow_always", "reject_once", "reject_once"], Some(1));
    }

    #[test]
    fn without_one_it_is_cancelled() {
        for kinds in [&["allow_once"][..], &["allow_once", "reject_always"], &["allow_always", "deny", "reject"], &["", "banana"]]
        {
            check(RefusalStyle::RejectOnce, kinds, None);
        }
    }

    #[test]
    fn the_operator_can_have_cancelled_always() {
        check(RefusalStyle::Cancelled, &["allow_once", "reject_once"], None);
    }

    fn check(style: RefusalStyle, kinds: &[&str], expected: Option<usize>) {
        let options = kinds.iter().enumerate().map(|(at, kind)| PermissionOption {
            id: OptionId::parse(&RawValue::from_string(format!("\"id {at}\"")).expect("JSON")).expect("an id"),
            name: "Allow".into(),
            kind: OptionKind::parse(kind),
            meta: None,
        });
        let options = Options::new(options.collect()).expect("options");
        let expected = expected.and_then(|at| options.offered(at)).map_or(Outcome::Cancelled, Outcome::Selected);
        assert_eq!(style.refusal(&options), expected, "{kinds:?}");
    }
}
