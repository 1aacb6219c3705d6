//! Verdicts, and the tables of them that an operator or a launch writes.

use std::collections::BTreeMap;
use std::fmt;

use bridge_model::ToolKind;
use serde::{Deserialize, Serialize};

/// What to do with a request, from the loosest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// Choose the agent's own option to allow it this once, without asking anybody.
    AutoAllow,
    /// Hold it and ask the room.
    Ask,
    /// Refuse at once, without a card.
    AutoDeny,
}

impl Verdict {
    pub const ALL: [Self; 3] = [Self::AutoAllow, Self::Ask, Self::AutoDeny];

    /// As it stands in the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AutoAllow => "auto_allow",
            Self::Ask => "ask",
            Self::AutoDeny => "auto_deny",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// What a verdict is given for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A title, whole and exactly. It is the agent's own words, so it can only make things stricter.
    Title(String),
    Kind(ToolKind),
    /// Every kind that has no verdict of its own.
    Default,
}

impl Key {
    /// As [`fmt::Display`] writes it.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        match (text.strip_prefix("title:"), text) {
            (Some(title), _) => Some(Self::Title(title.to_owned())),
            (None, "default") => Some(Self::Default),
            (None, kind) => ToolKind::named(kind).map(Self::Kind),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Title(title) => write!(f, "title:{title}"),
            Self::Kind(kind) => f.write_str(kind.name()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// One side's verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdicts {
    /// What is looser than asking has no effect here.
    pub by_title: BTreeMap<String, Verdict>,
    pub by_kind: BTreeMap<ToolKind, Verdict>,
    /// `None`: this side has no say about what it does not name.
    pub default: Option<Verdict>,
}

impl Verdicts {
    /// The verdict on a kind, and the key it stands under. A kind that nobody knows is `other`.
    #[must_use]
    pub fn on_kind(&self, kind: ToolKind) -> Option<(Key, Verdict)> {
        let named = kind.in_rules();
        let own = self.by_kind.get(&named).map(|verdict| (Key::Kind(named), *verdict));
        own.or_else(|| self.default.map(|verdict| (Key::Default, verdict)))
    }

    /// All of them, in the order in which they are looked at.
    pub fn all(&self) -> impl Iterator<Item = (Key, Verdict)> {
        let titles = self.by_title.iter().map(|(title, verdict)| (Key::Title(title.clone()), *verdict));
        let kinds = self.by_kind.iter().map(|(kind, verdict)| (Key::Kind(*kind), *verdict));
        titles.chain(kinds).chain(self.default.map(|verdict| (Key::Default, verdict)))
    }

    /// The first of its verdicts that is looser than the operator's on the same key, with that one.
    #[must_use]
    pub fn looser_than(&self, operator: &Self) -> Option<(Key, Verdict, Verdict)> {
        let of_operator = |key: &Key| match key {
            // A title's rule only adds to what its kind has, so that asking for one takes nothing back.
            Key::Title(_) => Verdict::Ask,
            Key::Kind(kind) => operator.on_kind(*kind).map_or(Verdict::Ask, |(_, verdict)| verdict),
            Key::Default => operator.default.unwrap_or(Verdict::Ask),
        };
        self.all()
            .map(|(key, verdict)| (of_operator(&key), key, verdict))
            .find(|(theirs, _, verdict)| verdict < theirs)
            .map(|(theirs, key, verdict)| (key, verdict, theirs))
    }
}

/// Tables of verdicts that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Reading is allowed, all else is asked.
    ApproveReads,
    /// All is refused, and nobody is ever asked.
    DenyAll,
    /// Every kind that ACP has a name for is allowed.
    ApproveAll,
}

impl Mode {
    pub const ALL: [Self; 3] = [Self::ApproveReads, Self::DenyAll, Self::ApproveAll];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApproveReads => "approve-reads",
            Self::DenyAll => "deny-all",
            Self::ApproveAll => "approve-all",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    #[must_use]
    pub fn verdicts(self) -> Verdicts {
        let (by_kind, default) = match self {
            Self::ApproveReads => (BTreeMap::from([(ToolKind::Read, Verdict::AutoAllow)]), Verdict::Ask),
            Self::DenyAll => (BTreeMap::new(), Verdict::AutoDeny),
            Self::ApproveAll => (BTreeMap::new(), Verdict::AutoAllow),
        };
        Verdicts { by_title: BTreeMap::new(), by_kind, default: Some(default) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_may_be_as_strict_or_stricter_and_is_told_the_key_that_is_not() {
        use Verdict::{Ask, AutoAllow, AutoDeny};
        let execute = Key::Kind(ToolKind::Execute);
        for (operator, launch, looser) in [
            (table(&[], Some(Ask)), table(&[], None), None),
            (table(&[], Some(Ask)), table(&[(ToolKind::Execute, Ask)], Some(AutoDeny)), None),
            (table(&[(ToolKind::Execute, AutoDeny)], None), table(&[(ToolKind::Execute, Ask)], None), Some(&execute)),
            (table(&[], Some(AutoDeny)), table(&[(ToolKind::Execute, Ask)], None), Some(&execute)),
            (table(&[], Some(AutoDeny)), table(&[], Some(Ask)), Some(&Key::Default)),
            (table(&[], None), table(&[], Some(AutoAllow)), Some(&Key::Default)),
            (table(&[], None), table(&[(ToolKind::Execute, AutoAllow)], None), Some(&execute)),
            (table(&[(ToolKind::Execute, AutoAllow)], None), table(&[(ToolKind::Execute, AutoAllow)], None), None),
            (table(&[(ToolKind::Read, AutoAllow)], Some(Ask)), table(&[], Some(Ask)), None),
        ] {
            assert_eq!(launch.looser_than(&operator).as_ref().map(|(key, ..)| key), looser, "{launch:?} under {operator:?}");
        }
    }

    #[test]
    fn a_launch_names_a_title_only_to_be_stricter() {
        let titled = |verdict| Verdicts { by_title: [("make".to_owned(), verdict)].into(), ..Verdicts::default() };
        let strict = table(&[], Some(Verdict::AutoDeny));
        assert_eq!(titled(Verdict::Ask).looser_than(&strict), None);
        assert!(titled(Verdict::AutoAllow).looser_than(&table(&[], Some(Verdict::AutoAllow))).is_some());
    }

    #[test]
    fn each_mode_is_a_table_that_could_be_written_out() {
        use Verdict::{Ask, AutoAllow, AutoDeny};
        assert_eq!(Mode::ApproveReads.verdicts(), table(&[(ToolKind::Read, AutoAllow)], Some(Ask)));
        assert_eq!(Mode::DenyAll.verdicts(), table(&[], Some(AutoDeny)));
        assert_eq!(Mode::ApproveAll.verdicts(), table(&[], Some(AutoAllow)));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        assert!(Verdict::ALL.into_iter().all(|verdict| Verdict::named(verdict.name()) == Some(verdict)));
        assert!(Mode::ALL.into_iter().all(|mode| Mode::named(mode.name()) == Some(mode)));
        assert_eq!((Verdict::named("allow"), Mode::named("approve_all")), (None, None));
        let keys = [Key::Title("a=b".into()), Key::Kind(ToolKind::SwitchMode), Key::Default];
        assert_eq!(keys.map(|key| key.to_string()), ["title:a=b", "switch_mode", "default"]);
    }

    fn table(by_kind: &[(ToolKind, Verdict)], default: Option<Verdict>) -> Verdicts {
        Verdicts { by_title: BTreeMap::new(), by_kind: by_kind.iter().copied().collect(), default }
    }
}
