//! What policy says about a request before any person sees it.

use std::collections::BTreeMap;
use std::time::Duration;

use bridge_model::{PermissionRequest, Timestamp, ToolKind};

use crate::RefusalStyle;

/// What to do with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Hold it and ask the room.
    Ask,
    /// Refuse at once, without a card.
    AutoDeny,
}

/// What to do with a request that its agent changes while people are deciding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenChanged {
    Refuse,
    /// Close its card and ask anew on another, until the same deadline.
    AskAgain,
}

/// The operator's rules for requests.
///
/// There is no `Default`: a lifetime that nobody chose is a lifetime that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Consulted first.
    pub by_kind: BTreeMap<ToolKind, Verdict>,
    /// For every kind that has no rule.
    pub default: Verdict,
    /// How long a request waits for a person, counted from its arrival.
    pub lifetime: Duration,
    pub refusal: RefusalStyle,
    pub when_changed: WhenChanged,
}

impl Policy {
    /// A request about no tool call counts as kind `other`.
    #[must_use]
    pub fn verdict(&self, request: &PermissionRequest) -> Verdict {
        let kind = request.tool_call.as_ref().map_or(ToolKind::Other, |tool_call| tool_call.kind);
        self.by_kind.get(&kind).copied().unwrap_or(self.default)
    }

    #[must_use]
    pub fn deadline(&self, arrived: Timestamp) -> Timestamp {
        arrived.after(self.lifetime)
    }
}

#[cfg(test)]
mod tests {
    use bridge_model::ReplyTo;
    use bridge_model::{OptionId, OptionKind, Options, PermissionOption, Session, SourceName, ToolCall};

    use super::*;

    #[test]
    fn a_kind_without_a_rule_takes_the_default() {
        check(&[], Verdict::Ask, Some(ToolKind::Execute), Verdict::Ask);
        check(&[(ToolKind::Read, Verdict::Ask)], Verdict::AutoDeny, Some(ToolKind::Execute), Verdict::AutoDeny);
    }

    #[test]
    fn a_kind_with_a_rule_takes_it() {
        check(&[(ToolKind::Delete, Verdict::AutoDeny)], Verdict::Ask, Some(ToolKind::Delete), Verdict::AutoDeny);
        check(&[(ToolKind::Read, Verdict::Ask)], Verdict::AutoDeny, Some(ToolKind::Read), Verdict::Ask);
    }

    #[test]
    fn no_tool_call_is_of_kind_other() {
        check(&[(ToolKind::Other, Verdict::AutoDeny)], Verdict::Ask, None, Verdict::AutoDeny);
        check(&[(ToolKind::Read, Verdict::Ask)], Verdict::AutoDeny, None, Verdict::AutoDeny);
    }

    #[test]
    fn a_deadline_counts_from_the_arrival() {
        let policy = policy(&[], Verdict::Ask);
        assert_eq!(policy.deadline(Timestamp::from_unix_millis(1_000)), Timestamp::from_unix_millis(61_000));
    }

    fn check(rules: &[(ToolKind, Verdict)], default: Verdict, kind: Option<ToolKind>, expected: Verdict) {
        let id = OptionId::parse(&serde_json::value::RawValue::from_string("\"a\"".into()).expect("JSON")).expect("an id");
        let option = PermissionOption { id, name: String::new(), kind: OptionKind::AllowOnce, meta: None };
        let request = PermissionRequest {
            from: ReplyTo { source: SourceName::new("s"), ask: 1 },
            session: Session::default(),
            title: None,
            description: None,
            tool_call: kind.map(|kind| ToolCall { kind, ..ToolCall::default() }),
            options: Options::new(vec![option]).expect("options"),
            meta: None,
        };
        assert_eq!(policy(rules, default).verdict(&request), expected);
    }

    fn policy(rules: &[(ToolKind, Verdict)], default: Verdict) -> Policy {
        Policy {
            by_kind: rules.iter().copied().collect(),
            default,
            lifetime: Duration::from_mins(1),
            refusal: RefusalStyle::RejectOnce,
            when_changed: WhenChanged::Refuse,
        }
    }
}
