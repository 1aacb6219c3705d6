//! `[policy]`.

use super::*;

#[test]
fn a_policy_is_read_as_it_is_written() {
    let text = "[policy]\ndefault = \"auto_deny\"\nlifetime = \"1h 30m\"\nrefusal = \"cancelled\"\n\
                [policy.kinds]\nread = \"ask\"\nswitch_mode = \"auto_deny\"\n";
    let config = check(text, &[], &[NO_ROOM]).expect("a configuration");
    let by_kind = [(ToolKind::Read, Verdict::Ask), (ToolKind::SwitchMode, Verdict::AutoDeny)].into();
    let expected = Policy {
        verdicts: Verdicts { by_kind, default: Some(Verdict::AutoDeny), ..Verdicts::default() },
        refusal: RefusalStyle::Cancelled,
        ..Policy::asking(Duration::from_mins(90))
    };
    assert_eq!(config.policy, expected);
    for (text, expected) in [
        ("default = \"yes\"", "policy.default: \"yes\" is not a verdict; use auto_allow, ask or auto_deny"),
        ("kinds.write = \"ask\"", "policy.kinds.write: is not a tool kind of ACP; use one of read, edit, delete, move,"),
        ("refusal = \"reject_always\"", "policy.refusal: \"reject_always\" is not a way to refuse; use reject_once or"),
        (
            "when_changed = \"allow\"",
            "policy.when_changed: \"allow\" is not what to do with a request that changes; use refuse or",
        ),
        ("when_outside = \"allow\"", "policy.when_outside: \"allow\" is not what to do with a request that leaves the workspace"),
        ("tell_refusals = true", "policy.tell_refusals: is true or false; write text"),
        ("lifetime = \"999ms\"", "policy.lifetime: \"999ms\" is too short or too long; use 1s to 30days"),
        ("lifetime = \"30days 1s\"", "policy.lifetime: \"30days 1s\" is too short or too long"),
        ("lifetime = \"soon\"", "policy.lifetime: \"soon\" is not a span of time; write it as"),
    ] {
        check(&format!("[policy]\n{text}"), &[], &[expected]);
    }
    for lifetime in ["1s", "30days"] {
        check(&format!("[policy]\nlifetime = \"{lifetime}\""), &[], &[NO_ROOM]);
    }
}

#[test]
fn rules_are_read_by_mode_kind_and_title() {
    use Verdict::{Ask, AutoAllow, AutoDeny};
    let verdicts = |text: &str, warned: &[&str]| {
        let warned: Vec<&str> = warned.iter().copied().chain([NO_ROOM]).collect();
        check(text, &[], &warned).expect("a configuration").policy.verdicts
    };
    let reads = verdicts("[policy]\nmode = \"approve-reads\"", &[]);
    assert_eq!((reads.by_kind, reads.default), ([(ToolKind::Read, AutoAllow)].into(), Some(Ask)));
    let stricter = "[policy]\nmode = \"approve-reads\"\ndefault = \"auto_deny\"\n[policy.kinds]\nread = \"ask\"";
    let stricter = verdicts(stricter, &[]);
    assert_eq!((stricter.by_kind, stricter.default), ([(ToolKind::Read, Ask)].into(), Some(AutoDeny)));
    let nothing = verdicts("[policy]\nmode = \"deny-all\"", &[]);
    assert_eq!((nothing.by_kind, nothing.default), (BTreeMap::new(), Some(AutoDeny)));
    let warned = "warning: policy.mode is \"approve-all\": what agents ask for is allowed without a person";
    let all = verdicts("[policy]\nmode = \"approve-all\"\n[policy.kinds]\ndelete = \"ask\"", &[warned]);
    assert_eq!((all.by_kind, all.default), ([(ToolKind::Delete, Ask)].into(), Some(AutoAllow)));
    let titled = verdicts("[policy.titles]\n\"Git push. origin \" = \"auto_deny\"", &[]);
    assert_eq!(titled.by_title, [("Git push. origin ".to_owned(), AutoDeny)].into());
}

#[test]
fn what_would_allow_by_accident_is_refused() {
    let title = "policy.titles.ls: would allow by a title, which is the agent's own words";
    check("[policy.titles]\nls = \"auto_allow\"", &[], &[title]);
    check("[policy]\ndefault = \"auto_allow\"", &[], &["policy.default: would allow everything without a person; write mode"]);
    let kind = "policy.kinds.read: \"allow\" is not a verdict; use auto_allow, ask or auto_deny";
    check("[policy.kinds]\nread = \"allow\"", &[], &[kind]);
    let mode = "policy.mode: \"approve_all\" is not a mode; use approve-reads, deny-all or approve-all";
    check("[policy]\nmode = \"approve_all\"", &[], &[mode]);
    check("[policy]\nlifetime = \"1year\"", &[], &["policy.lifetime: \"1year\" is too short or too long; use 1s to 30days"]);
}
