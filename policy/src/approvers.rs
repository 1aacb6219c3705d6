//! Who may answer, decided at the instant of the click from the facts of that instant.

use std::collections::BTreeSet;

use bridge_model::{Humanity, Person, PersonId, Presence, RoleId, Signature, Standing};
use serde::{Deserialize, Serialize};

/// Who may answer in one room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approvers {
    pub who: Who,
    /// The power level a person must have in the room, besides.
    pub power_min: Option<i64>,
    /// Accounts that never count, also when listed as approvers: bots that their service does not mark as such.
    pub bots: BTreeSet<PersonId>,
}

/// The people who may answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Who {
    /// Any human who is in the room. Has to be written out; nothing leads here by default.
    Anyone,
    Listed(Listed),
}

/// People by their ids and by their roles. Empty is nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    pub people: BTreeSet<PersonId>,
    pub roles: BTreeSet<RoleId>,
}

impl Listed {
    #[must_use]
    pub fn people(people: impl IntoIterator<Item = PersonId>) -> Self {
        Self { people: people.into_iter().collect(), roles: BTreeSet::new() }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.people.is_empty() && self.roles.is_empty()
    }

    fn contains(&self, person: &Person) -> bool {
        self.people.contains(&person.id) || !self.roles.is_disjoint(&person.roles)
    }
}

/// Proof that a person may answer. Only [`Approvers::admit`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit(PersonId);

impl Permit {
    #[must_use]
    pub fn person(&self) -> &PersonId {
        &self.0
    }
}

/// Why a click does not count. Each text reads after "Your click did not count: ".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ineligible {
    NotListed,
    Bot,
    HumanityUnknown,
    NotInRoom,
    PresenceUnknown,
    Screening,
    Silenced,
    StandingUnknown,
    SignatureMissing,
    PowerTooLow,
    Requester,
    RequesterUnknown,
    TooSoon,
    TooOften,
}

impl Ineligible {
    #[cfg(test)]
    const ALL: [Self; 14] = [
        Self::NotListed,
        Self::Bot,
        Self::HumanityUnknown,
        Self::NotInRoom,
        Self::PresenceUnknown,
        Self::Screening,
        Self::Silenced,
        Self::StandingUnknown,
        Self::SignatureMissing,
        Self::PowerTooLow,
        Self::Requester,
        Self::RequesterUnknown,
        Self::TooSoon,
        Self::TooOften,
    ];

    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotListed => "you are not among the approvers of this room.",
            Self::Bot => "bots cannot answer.",
            Self::HumanityUnknown => "it is not known whether this account belongs to a human.",
            Self::NotInRoom => "you are not in the room.",
            Self::PresenceUnknown => "it could not be confirmed that you are in the room; press again.",
            Self::Screening => "you have not accepted this server's rules yet.",
            Self::Silenced => "you are timed out on this server.",
            Self::StandingUnknown => "it could not be confirmed that you may take part here.",
            Self::SignatureMissing => "this room is encrypted and the device you pressed on is not verified by you.",
            Self::PowerTooLow => "your power level in this room is too low, or could not be read.",
            Self::Requester => "you asked for this yourself, so somebody else has to answer.",
            Self::RequesterUnknown => "it is not known who asked for this, and whoever did may not answer.",
            Self::TooSoon => "the card has only just appeared; read it, and press again.",
            Self::TooOften => "you press very often; wait a little, and press again.",
        }
    }
}

impl Approvers {
    /// Whether there is nobody who could ever be admitted.
    #[must_use]
    pub fn is_nobody(&self) -> bool {
        matches!(&self.who, Who::Listed(listed) if listed.is_empty())
    }

    /// The one decision about a person, for every room and every path. Each fact that is not known counts as no.
    pub fn admit(&self, person: &Person) -> Result<Permit, Ineligible> {
        match person.humanity {
            Humanity::Human => {}
            Humanity::Bot => return Err(Ineligible::Bot),
            Humanity::Unknown => return Err(Ineligible::HumanityUnknown),
        }
        if self.bots.contains(&person.id) {
            return Err(Ineligible::Bot);
        }
        match &self.who {
            Who::Anyone => {}
            Who::Listed(listed) if listed.contains(person) => {}
            Who::Listed(_) => return Err(Ineligible::NotListed),
        }
        match person.signature {
            Signature::Service | Signature::SignedDevice => {}
            Signature::Missing => return Err(Ineligible::SignatureMissing),
        }
        match person.presence {
            Presence::InRoom => {}
            Presence::Absent => return Err(Ineligible::NotInRoom),
            Presence::Unknown => return Err(Ineligible::PresenceUnknown),
        }
        match person.standing {
            Standing::Full => {}
            Standing::Screening => return Err(Ineligible::Screening),
            Standing::Silenced => return Err(Ineligible::Silenced),
            Standing::Unknown => return Err(Ineligible::StandingUnknown),
        }
        match self.power_min {
            Some(min) if person.power.is_none_or(|power| power < min) => Err(Ineligible::PowerTooLow),
            Some(_) | None => Ok(Permit(person.id.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: &str = "@ada:example.org";

    #[test]
    fn a_listed_human_in_the_room_may_answer() {
        check(&listed(&[ADA]), &ada(), None);
    }

    #[test]
    fn an_empty_list_is_nobody() {
        check(&listed(&[]), &ada(), Some(Ineligible::NotListed));
    }

    #[test]
    fn nobody_is_a_list_without_people_and_without_roles() {
        let roles = BTreeSet::from([RoleId::new("7")]);
        let people = Listed::people([PersonId::new(ADA)]);
        for (who, is_nobody) in [
            (Who::Anyone, false),
            (Who::Listed(Listed::default()), true),
            (Who::Listed(people.clone()), false),
            (Who::Listed(Listed { roles: roles.clone(), ..Listed::default() }), false),
            (Who::Listed(Listed { roles, ..people }), false),
        ] {
            assert_eq!(Approvers { who, ..listed(&[]) }.is_nobody(), is_nobody);
        }
    }

    #[test]
    fn each_reason_is_a_sentence_of_its_own() {
        let reasons: BTreeSet<_> = Ineligible::ALL.into_iter().map(Ineligible::reason).collect();
        assert_eq!(reasons.len(), Ineligible::ALL.len());
        assert!(reasons.iter().all(|reason| 10 < reason.len() && reason.ends_with('.')), "{reasons:?}");
    }

    #[test]
    fn anyone_is_any_human_in_the_room() {
        let anyone = Approvers { who: Who::Anyone, power_min: None, bots: BTreeSet::new() };
        check(&anyone, &ada(), None);
        check(&anyone, &Person { humanity: Humanity::Bot, ..ada() }, Some(Ineligible::Bot));
        check(&anyone, &Person { presence: Presence::Absent, ..ada() }, Some(Ineligible::NotInRoom));
    }

    #[test]
    fn every_single_doubt_is_a_no() {
        for (person, why) in [
            (Person { humanity: Humanity::Bot, ..ada() }, Ineligible::Bot),
            (Person { humanity: Humanity::Unknown, ..ada() }, Ineligible::HumanityUnknown),
            (Person { presence: Presence::Absent, ..ada() }, Ineligible::NotInRoom),
            (Person { presence: Presence::Unknown, ..ada() }, Ineligible::PresenceUnknown),
            (Person { signature: Signature::Missing, ..ada() }, Ineligible::SignatureMissing),
            (Person { standing: Standing::Screening, ..ada() }, Ineligible::Screening),
            (Person { standing: Standing::Silenced, ..ada() }, Ineligible::Silenced),
            (Person { standing: Standing::Unknown, ..ada() }, Ineligible::StandingUnknown),
            (Person { id: PersonId::new("@ada:example.org "), ..ada() }, Ineligible::NotListed),
            (Person { id: PersonId::new("@Ada:example.org"), ..ada() }, Ineligible::NotListed),
        ] {
            check(&listed(&[ADA]), &person, Some(why));
        }
    }

    #[test]
    fn a_listed_bot_stays_a_bot() {
        let approvers = Approvers { bots: [PersonId::new(ADA)].into(), ..listed(&[ADA]) };
        check(&approvers, &ada(), Some(Ineligible::Bot));
    }

    #[test]
    fn power_is_asked_for_where_a_minimum_is_set() {
        let approvers = Approvers { power_min: Some(50), ..listed(&[ADA]) };
        check(&approvers, &Person { power: Some(50), ..ada() }, None);
        check(&approvers, &Person { power: Some(49), ..ada() }, Some(Ineligible::PowerTooLow));
        check(&approvers, &Person { power: None, ..ada() }, Some(Ineligible::PowerTooLow));
    }

    #[test]
    fn a_role_that_is_listed_is_enough_and_any_other_is_not() {
        let roles = |roles: &[&str]| roles.iter().map(|role| RoleId::new(*role)).collect::<BTreeSet<_>>();
        let approvers = Approvers { who: Who::Listed(Listed { roles: roles(&["7"]), ..Listed::default() }), ..listed(&[]) };
        check(&approvers, &Person { roles: roles(&["3", "7"]), ..ada() }, None);
        check(&approvers, &Person { roles: roles(&["3", "77"]), ..ada() }, Some(Ineligible::NotListed));
        check(&approvers, &Person { id: PersonId::new("7"), ..ada() }, Some(Ineligible::NotListed));
    }

    #[test]
    fn a_name_is_not_an_id() {
        let mallory = Person { id: PersonId::new("@mallory:example.org"), name: Some(ADA.into()), ..ada() };
        check(&listed(&[ADA]), &mallory, Some(Ineligible::NotListed));
    }

    fn check(approvers: &Approvers, person: &Person, expected: Option<Ineligible>) {
        let admitted = approvers.admit(person);
        assert_eq!(admitted.as_ref().err().copied(), expected, "{person:?}");
        assert_eq!(admitted.ok().map(|permit| permit.person().clone()), expected.is_none().then(|| person.id.clone()));
    }

    fn listed(ids: &[&str]) -> Approvers {
        Approvers {
            who: Who::Listed(Listed::people(ids.iter().map(|id| PersonId::new(*id)))),
            power_min: None,
            bots: BTreeSet::new(),
        }
    }

    fn ada() -> Person {
        Person {
            id: PersonId::new(ADA),
            name: None,
            humanity: Humanity::Human,
            presence: Presence::InRoom,
            standing: Standing::Full,
            signature: Signature::SignedDevice,
            power: Some(0),
            roles: BTreeSet::new(),
        }
    }
}
