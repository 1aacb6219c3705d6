//! `[policy]`.

use super::*;

#[test]
fn a_policy_can_ask_and_deny_and_nothing_else() {
    let text = "[policy]\ndefault = \"auto_deny\"\nlifetime = \"1h 30m\"\nrefusal = \"cancelled\"\n\
                [policy.kinds]\nread = \"ask\"\nswitch_mode = \"auto_deny\"\n";
    let config = check(text, &[], &[NO_ROOM]).expect("a configuration");
    let expected = Policy {
        by_kind: [(ToolKind::Read, Verdict::Ask), (ToolKind::SwitchMode, Verdict::AutoDeny)].into(),
        default: Verdict::AutoDeny,
        lifetime: Duration::from_mins(90),
        refusal: RefusalStyle::Cancelled,
        when_changed: WhenChanged::Refuse,
    };
    assert_eq!(config.policy, expected);
    for (text, expected) in [
        ("default = \"allow\"", "policy.default: is \"allow\", and this version cannot allow without a person"),
        ("default = \"yes\"", "policy.default: \"yes\" is not a verdict; use ask or auto_deny"),
        ("kinds.read = \"auto_allow\"", "policy.kinds.read: is \"auto_allow\", and this version cannot"),
        ("kinds.write = \"ask\"", "policy.kinds.write: is not a tool kind of ACP; use one of read, edit, delete, move,"),
        ("refusal = \"reject_always\"", "policy.refusal: \"reject_always\" is not a way to refuse; use reject_once or"),
        (
            "when_changed = \"allow\"",
            "policy.when_changed: \"allow\" is not what to do with a request that changes; use refuse or",
        ),
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
