//! What an input has to lead to, and whether the bridge's effects are that.

use bridge_core::{Effect, Entry, Input, RoomEvent};
use bridge_model::{ButtonStyle, Card, Click, ClickReply, Ending, OptionKind, Outcome, Person, PersonId, RequestId};

use crate::oracle::{Asked, Press, Private, press};
use crate::world::World;

/// What one input has to lead to.
#[derive(Default)]
pub(crate) struct Due {
    /// What the presses do that count for anything, in their order.
    presses: Vec<Press>,
    /// Whether it was found that somebody who could answer is there; `None`: it was not looked.
    somebody_there: Option<(RequestId, bool)>,
}

/// What one input led to.
#[derive(Default)]
struct Done {
    outcomes: Vec<(RequestId, Outcome)>,
    replies: Vec<(PersonId, ClickReply)>,
    posted: Vec<RequestId>,
    /// Whose record failed.
    failed: Vec<RequestId>,
}

impl World {
    pub(crate) fn due(&mut self, input: &Input) -> Due {
        let mut presses = Vec::new();
        if let Input::Room(RoomEvent::Clicked(click)) = input {
            presses.push(self.pressed(click));
        }
        // Those that waited for the news of their card.
        if let Input::Posted(id, Ok(_)) = input {
            let tokens = self.asked.get(id).map(|asked| asked.tokens.clone()).unwrap_or_default();
            let waited: Vec<_> = self.parked.extract_if(.., |click| tokens.contains_key(&click.token)).collect();
            presses.extend(waited.iter().map(|click| press(&mut self.asked, click, self.now)));
        }
        let mut somebody_there = None;
        if let Input::People(id, people) = input
            && let Some(asked) = self.asked.get(id).filter(|asked| !asked.over)
        {
            let may = |people: &Vec<Person>| people.iter().any(|person| asked.may(person.id.as_str()));
            somebody_there = Some((*id, people.as_ref().is_none_or(may)));
        }
        Due { presses: presses.into_iter().filter(|press| *press != Press::Nothing).collect(), somebody_there }
    }

    /// A press on a card that is not known yet waits.
    fn pressed(&mut self, click: &Click) -> Press {
        let is_known = self.asked.values().any(|asked| {
            asked.private.contains_key(&click.token) || asked.card.is_some() && asked.tokens.contains_key(&click.token)
        });
        if is_known {
            return press(&mut self.asked, click, self.now);
        }
        if self.asked.values().any(|asked| asked.tokens.contains_key(&click.token) && asked.room == click.at.room) {
            self.parked.push(click.clone());
        }
        Press::Nothing
    }

    /// Whether the effects are what the rules have. Returns the requests whose record failed.
    pub(crate) fn judge(&mut self, due: &Due, effects: Vec<Effect>) -> Vec<RequestId> {
        let mut done = Done::default();
        self.carry_out(effects, &mut done);
        self.judge_replies(&due.presses, done.replies);
        let chosen =
            due.presses.iter().find_map(|press| if let Press::Chooses(id, at) = press { Some((*id, *at)) } else { None });
        for (id, outcome) in &done.outcomes {
            let Outcome::Selected(offered) = outcome else { continue };
            let option = offered.option();
            let by_click = chosen == Some((*id, self.option_at(*id, option.id.raw().get())));
            assert!(by_click || option.kind == OptionKind::RejectOnce, "{id} got {option:?} without a click that counts");
            assert!(!by_click || self.ledger_works, "{id} was told a choice that is not recorded");
            if by_click {
                let careful = self.asked[id].is_careful();
                *(match (option.kind.refuses(), careful) {
                    (true, _) => &mut self.told.refused_by_person,
                    (false, false) => &mut self.told.allowed,
                    (false, true) => &mut self.told.allowed_by_two,
                }) += 1;
            }
        }
        if let Some((id, at)) = chosen
            && done.failed.is_empty()
        {
            let expected = self.asked[&id].options[at].0.clone();
            let told: Vec<_> = done.outcomes.iter().filter(|(told, _)| *told == id).collect();
            let is_it =
                |outcome: &Outcome| matches!(outcome, Outcome::Selected(offered) if offered.option().id.raw().get() == expected);
            assert!(told.len() == 1 && is_it(&told[0].1), "a click that counts chose {expected}, and {id} was told {told:?}");
        }
        if let Some((id, is_there)) = due.somebody_there {
            assert_eq!(done.posted.contains(&id), is_there, "{id} is shown where somebody can answer it, and only there");
            assert_eq!(self.asked[&id].over, !is_there);
            self.told.nobody_there += usize::from(!is_there);
        }
        done.failed
    }

    /// Each press that counts is answered as what it did, and no other is.
    fn judge_replies(&mut self, due: &[Press], replies: Vec<(PersonId, ClickReply)>) {
        let mut presses = due.iter();
        for (person, reply) in replies {
            match reply {
                ClickReply::MayNotAnswer(_) => self.told.ineligible += 1,
                ClickReply::TooLate(_) | ClickReply::NothingWaits => {}
                // The same once more, from whoever it was.
                ClickReply::Chosen if !matches!(presses.as_slice().first(), Some(Press::Chooses(..))) => {
                    assert!(self.asked.values().any(|asked| asked.chosen_by.as_deref() == Some(person.as_str())));
                }
                reply @ (ClickReply::Chosen | ClickReply::IsFirst | ClickReply::Differs { .. } | ClickReply::ToConfirm(_)) => {
                    match (presses.next(), reply) {
                        (Some(Press::Chooses(..)), ClickReply::Chosen) | (Some(Press::IsFirst), ClickReply::IsFirst) => {}
                        (Some(Press::Differs), ClickReply::Differs { .. }) => self.told.differing += 1,
                        (Some(Press::IsToBeConfirmed(id, at)), ClickReply::ToConfirm(asked)) => {
                            let private = &mut self.asked.get_mut(id).expect("a request").private;
                            // People are asked about one choice of a request at a time.
                            for old in private.values_mut().filter(|old| old.whose == person.as_str()) {
                                old.is_spent = true;
                            }
                            let new = Private { whose: person.as_str().to_owned(), at: *at, is_spent: false };
                            private.insert(asked.button.token, new);
                            self.told.to_confirm += 1;
                        }
                        (due, reply) => panic!("it was to be {due:?}, and was answered with {reply:?}"),
                    }
                }
            }
        }
        assert_eq!(presses.next(), None, "it counts, and was not answered");
    }

    fn carry_out(&mut self, effects: Vec<Effect>, done: &mut Done) {
        for effect in effects {
            match effect {
                Effect::Record { entry, then } => {
                    self.recorded(&entry);
                    if self.ledger_works {
                        self.carry_out(then, done);
                    } else if !then.is_empty() {
                        done.failed.push(entry.request());
                    }
                }
                // Nothing here comes back after a restart.
                Effect::Asked(..) | Effect::Resume { .. } => {}
                Effect::Look { request, .. } => self.looking.push(request),
                Effect::Post { card, .. } => {
                    done.posted.push(card.request);
                    self.posted(card);
                }
                Effect::Update { now, .. } => {
                    let asked = &self.asked[&now.request];
                    assert!(now.buttons.iter().all(|button| asked.tokens.contains_key(&button.token)), "its buttons stay");
                }
                Effect::Say(said) if said.about.is_none() => {}
                Effect::Say(said) => {
                    let asked = self.asked.get_mut(&said.request).expect("a request");
                    asked.reminded += 1;
                    self.told.reminded += 1;
                    let waits = asked.told.is_empty() && !asked.replaced && asked.card.is_some();
                    assert!(asked.is_careful() && waits && asked.reminded == 1, "{asked:?}");
                }
                Effect::Close { closed, .. } => {
                    self.closed(closed.request, &closed.ending);
                    self.closings.insert(closed.request, closed.ending);
                }
                Effect::Reply { request, to, outcome, .. } => {
                    let asked = self.asked.values_mut().rfind(|asked| asked.from == to).expect("a request of this source");
                    asked.over = true;
                    asked.told.push(match &outcome {
                        Outcome::Selected(offered) => offered.option().id.raw().get().to_owned(),
                        Outcome::Cancelled => "cancelled".to_owned(),
                    });
                    self.replying.push(request);
                    done.outcomes.push((request, outcome));
                }
                Effect::Answer { click, reply } => done.replies.push((click.person, reply)),
            }
        }
    }

    fn recorded(&mut self, entry: &Entry) {
        match entry {
            Entry::Held { request, .. } => self.held(*request),
            Entry::Settled { ending: Ending::Expired, .. } => self.told.expired += 1,
            Entry::Settled { ending: Ending::Withdrawn(_), .. } => self.told.withdrawn += 1,
            Entry::Settled { .. } | Entry::Posted { .. } | Entry::ChosenFirst { .. } => {}
        }
    }

    /// Finds out which request has this id: one that is held already, one that was changed, or the one just asked.
    fn held(&mut self, id: RequestId) {
        let _ = self.ledger_works && self.held_in_ledger.insert(id);
        if self.asked.contains_key(&id) {
            return;
        }
        let again = self.changing.take().and_then(|before| {
            let from = self.asked.get(&before)?.from.clone();
            let before = self.asked.values_mut().rfind(|asked| asked.from == from)?;
            let again = Asked { card: None, tokens: [].into(), first: None, private: [].into(), reminded: 0, ..before.clone() };
            (before.over, before.replaced) = (true, true);
            Some(again)
        });
        self.told.asked_again += usize::from(again.is_some());
        let asked = again.unwrap_or_else(|| self.asked.pop_last().expect("a request was just made").1);
        self.asked.insert(id, asked);
    }

    fn posted(&mut self, card: Card) {
        assert!(self.held_in_ledger.contains(&card.request), "a card is posted before its deadline is recorded");
        let text = format!("{card:?}");
        assert!(!["\"allow\\\"", "optionId"].iter().any(|id| text.contains(id)), "an option id travels to the room: {text}");
        let asked = self.asked.get_mut(&card.request).expect("it is held");
        assert_eq!((asked.options.len(), &asked.room), (card.buttons.len(), &card.room));
        asked.tokens = card.buttons.iter().enumerate().map(|(at, button)| (button.token, at)).collect();
        self.posting.push(card);
    }

    /// Whom a card names at its end.
    fn closed(&self, id: RequestId, ending: &Ending) {
        let (Ending::Answered { person, first, does, .. }, Some(asked)) = (ending, self.asked.get(&id)) else { return };
        let takes_two = asked.is_careful() && *does != ButtonStyle::Reject;
        assert_eq!(first.is_some(), takes_two, "{ending:?}");
        assert!(first.as_ref().is_none_or(|first| first.person != *person), "two people allow: {ending:?}");
    }

    fn option_at(&self, id: RequestId, raw: &str) -> usize {
        let asked = self.asked.get(&id);
        asked.and_then(|asked| asked.options.iter().position(|(id, _)| id == raw)).unwrap_or(usize::MAX)
    }
}
