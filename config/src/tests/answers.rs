//! Who may answer, and what is done while requests wait.

use policy::{Approvals, Confirm, WhenNobody};

use super::*;

#[test]
fn one_approver_is_enough_and_nobody_is_called_unless_it_is_written() {
    let config = check(&format!("{MATRIX}{BUILDS}"), &[], &[]).expect("a configuration");
    let answers = &config.rooms[&RoomName::new("builds")].answers;
    assert_eq!(answers.rules, policy::AnswerRules::of(answers.rules.approvers.clone()));
    assert_eq!((answers.when_nobody, answers.by_kind.len()), (WhenNobody::Refuse, 0));
    assert_eq!((&answers.remind_at, &answers.escalate), (&vec![], &None));
}

#[test]
fn what_it_takes_is_read_as_it_is_written() {
    let text = "approvals = 2\nconfirm = [\"allow_always\", \"delete\", \"unknown\"]\narm_delay = \"1s\"\n\
                requester_may_answer = false\nwhen_nobody = \"wait\"\nremind_at = [75, 50]\n\
                escalate = { after = \"2m\", room = \"ops\", mention = [\"@bob:example.org\"] }\n\
                [rooms.builds.kinds.read]\napprovals = 1\narm_delay = \"0s\"\n\
                [rooms.builds.kinds.delete]\napprovers = [\"@eve:example.org\"]\n";
    let warned = "warning: rooms.builds.approvals is 2, and there is one approver";
    let warned_of_delete = "warning: rooms.builds.kinds.delete.approvals is 2, and there is one approver";
    let text = format!("[acp]\nroom = \"builds\"\n{MATRIX}{OPS}{BUILDS}{text}");
    let config = check(&text, &[], &[warned, warned_of_delete]).expect("a configuration");
    let answers = &config.rooms[&RoomName::new("builds")].answers;
    let rules = &answers.rules;
    assert_eq!((rules.approvals, rules.arm_delay, rules.requester_may_answer), (Approvals::Two, Duration::from_secs(1), false));
    assert_eq!(rules.confirm, [Confirm::AllowAlways, Confirm::Unknown, Confirm::Kind(ToolKind::Delete)].into());
    assert_eq!((answers.when_nobody, answers.remind_at.as_slice()), (WhenNobody::Wait, &[50, 75][..]));
    let escalate = Escalate {
        after: Duration::from_mins(2),
        room: Some(RoomName::new("ops")),
        mention: vec![PersonId::new("@bob:example.org")],
    };
    assert_eq!(answers.escalate, Some(escalate));
    let of_read = &answers.by_kind[&ToolKind::Read];
    assert_eq!((of_read.approvals, of_read.arm_delay, &of_read.approvers), (Approvals::One, Duration::ZERO, &rules.approvers));
    assert!(!of_read.requester_may_answer && of_read.confirm == rules.confirm);
    let of_delete = &answers.by_kind[&ToolKind::Delete];
    let eve = Who::Listed(Listed::people([PersonId::new("@eve:example.org")]));
    assert_eq!((&of_delete.approvers.who, of_delete.approvals), (&eve, Approvals::Two));
}

#[test]
fn what_makes_no_sense_is_said_by_its_key() {
    for (text, expected) in [
        ("approvals = 3", "rooms.builds.approvals: is 3; use 1 or 2"),
        ("approvals = 0", "rooms.builds.approvals: is 0; use 1 or 2"),
        ("confirm = [\"reject_once\"]", "rooms.builds.confirm[0]: \"reject_once\" is nothing to confirm; use allow_always,"),
        ("arm_delay = \"2m\"", "rooms.builds.arm_delay: \"2m\" is too short or too long; use 0s to 1m"),
        ("requester_may_answer = \"no\"", "rooms.builds.requester_may_answer: is text; write true or false"),
        ("when_nobody = \"allow\"", "rooms.builds.when_nobody: \"allow\" is not what to do while nobody is there; use refuse or"),
        ("remind_at = [0]", "rooms.builds.remind_at[0]: is 0; use hundredths"),
        ("remind_at = [100]", "rooms.builds.remind_at[0]: is 100; use hundredths"),
        ("remind_at = [1, 2, 3, 4]", "rooms.builds.remind_at: has 4 reminders; use 3 at most"),
        ("escalate = { room = \"ops\" }", "rooms.builds.escalate.after: is missing; say when"),
        ("escalate = { after = \"2m\" }", "rooms.builds.escalate.room: and mention are missing"),
        ("escalate = { after = \"6m\", room = \"builds\" }", "rooms.builds.escalate.after: \"6m\" is too short or too long"),
        ("escalate = { after = \"2m\", room = \"nowhere\" }", "rooms.builds.escalate.room: \"nowhere\" is not a configured room"),
        ("escalate = { after = \"2m\", mention = [\"bob\"] }", "rooms.builds.escalate.mention: \"bob\" is nobody's id"),
        ("escalate = { after = \"5m\", room = \"builds\" }", "rooms.builds.escalate.after: \"5m\" is too short or too long"),
        (
            "bots = [\"@relay:Example.org\"]",
            "rooms.builds.bots[0]: \"@relay:Example.org\" is not how a Matrix user id is spelt; write it as \"@relay:example.org\"",
        ),
        ("approvals = 2\n[acp]\nalso_ask_client = true", "acp.also_ask_client: is true, and the room that is asked takes more"),
        ("arm_delay = \"1s\"\n[acp]\nalso_ask_client = true", "acp.also_ask_client: is true"),
        ("confirm = [\"edit\"]\n[acp]\nalso_ask_client = true", "acp.also_ask_client: is true"),
        (
            "[rooms.builds.kinds.edit]\nrequester_may_answer = false\n[acp]\nalso_ask_client = true",
            "acp.also_ask_client: is true",
        ),
        ("[policy]\nmode = \"deny-all\"\ndefault = \"ask\"", "policy.mode: is \"deny-all\", and other rules do not deny"),
        ("[policy]\nmode = \"deny-all\"\n[policy.kinds]\nread = \"auto_allow\"", "policy.mode: is \"deny-all\""),
        ("[rooms.builds.kinds.write]", "rooms.builds.kinds.write: is not a tool kind of ACP"),
        ("[rooms.builds.kinds.read]\nconfirm = []", "rooms.builds.kinds.read.confirm: is not a known key"),
        ("[rooms.builds.kinds.read]\napprovers = [\"eve\"]", "rooms.builds.kinds.read.approvers[0]: \"eve\" is not a Matrix"),
    ] {
        check(&format!("{MATRIX}{BUILDS}{text}"), &[], &[expected]);
    }
}

#[test]
fn rules_by_which_nothing_can_be_allowed_are_warned_of() {
    for (text, warned) in [
        ("approvals = 2", "rooms.builds.approvals is 2, and there is one approver, so nothing can be allowed there"),
        ("[rooms.builds.kinds.edit]\napprovals = 2", "rooms.builds.kinds.edit.approvals is 2, and there is one approver"),
        ("arm_delay = \"5s\"\n[policy]\nlifetime = \"5s\"", "rooms.builds.arm_delay is as long as requests wait"),
        (
            "[rooms.builds.kinds.edit]\napprovers = []",
            "rooms.builds.kinds.edit.approvers is empty, so nobody can answer there and every request is refused at once",
        ),
        (
            "when_nobody = \"wait\"\n[rooms.builds.kinds.edit]\napprovers = []",
            "rooms.builds.kinds.edit.approvers is empty, so nobody can answer there and every request expires",
        ),
    ] {
        check(&format!("{MATRIX}{BUILDS}{text}"), &[], &[&format!("warning: {warned}")]);
    }
}

#[test]
fn limits_have_bounds() {
    let config = check("[limits]\nrequests = 7\ncards_a_minute_in_room = 5\nnot_again_for = \"1m\"", &[], &[NO_ROOM]);
    let limits = config.expect("a configuration").limits;
    assert_eq!((limits.held_max, limits.cards_a_minute_in_room.get(), limits.not_again_for), (7, 5, Duration::from_mins(1)));
    for (text, expected) in [
        ("requests = 0", "limits.requests: is 0; use 1 to 100000"),
        ("presses_a_minute = 10001", "limits.presses_a_minute: is 10001; use 1 to 10000"),
        ("not_again_for = \"25h\"", "limits.not_again_for: \"25h\" is too short or too long; use 1s to 1day"),
        ("cards = 5", "limits.cards: is not a known key"),
    ] {
        check(&format!("[limits]\n{text}"), &[], &[expected]);
    }
}
