//! Who gets what by which way, and when: one table, which holds in every kind of room.
//!
//! Each row is a request of its own. After it Ada refuses, so that what must not count is seen not to have counted.

use crate::stage::{Place, Plan, Stage, Who, selected};

in_every_room! {
    what_each_person_can_do_by_each_way_in_each_state,
}

/// What the house has decided besides that Ada and Bob approve, two of them, who confirm what allows always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum House {
    Plain,
    /// Bob is who the agent was launched for, and may not answer it.
    BobAsks,
    /// Bob is a bot.
    BobIsABot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nobody has done anything.
    Open,
    /// Ada has chosen "Yes".
    OneIn,
    /// Ada has chosen "Always" and not confirmed it.
    ToConfirm,
    /// Ada has refused.
    Refused,
    /// The turn was cancelled.
    Cancelled,
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Button(&'static str),
    /// The private button that somebody is shown.
    Private(&'static str),
    Words(&'static str),
    Reply(&'static str),
}

#[derive(Clone, Copy, Debug)]
enum Then {
    /// The agent is told this option, and whether it runs the tool.
    Settles(&'static str, bool),
    /// The card says that they chose it; another has to.
    IsFirst,
    /// They are asked whether they mean it.
    IsAsked,
    /// They alone hear why not.
    IsTold(&'static str),
    Nothing,
}

use House::{BobAsks, BobIsABot, Plain};
use State::{Cancelled, OneIn, Open, Refused, ToConfirm};
use Then::{IsAsked, IsFirst, IsTold, Nothing, Settles};
use Way::{Button, Private, Reply, Words};
use Who::{Ada, Bob, Mallory};

#[rustfmt::skip]
const TABLE: &[(House, State, Who, Way, Then)] = &[
    (Plain,     Open,      Ada,     Button("Yes"),     IsFirst),
    (Plain,     Open,      Ada,     Button("Always"),  IsAsked),
    (Plain,     Open,      Ada,     Button("No"),      Settles("no 3", false)),
    (Plain,     Open,      Ada,     Words("Yes"),      Nothing),
    (Plain,     Open,      Ada,     Reply("Yes"),      Nothing),
    (Plain,     Open,      Mallory, Button("Yes"),     IsTold("not among the approvers")),
    (Plain,     Open,      Mallory, Button("No"),      IsTold("not among the approvers")),
    (Plain,     Open,      Mallory, Words("No"),       Nothing),
    (Plain,     OneIn,     Ada,     Button("Yes"),     IsFirst),
    (Plain,     OneIn,     Ada,     Button("Always"),  IsAsked),
    (Plain,     OneIn,     Bob,     Button("Yes"),     Settles("once:1", true)),
    (Plain,     OneIn,     Bob,     Button("Always"),  IsAsked),
    (Plain,     OneIn,     Bob,     Button("No"),      Settles("no 3", false)),
    (Plain,     OneIn,     Bob,     Words("Yes"),      Nothing),
    (Plain,     OneIn,     Bob,     Reply("Yes"),      Nothing),
    (Plain,     OneIn,     Mallory, Button("Yes"),     IsTold("not among the approvers")),
    (Plain,     ToConfirm, Ada,     Private("Always"), IsFirst),
    (Plain,     ToConfirm, Ada,     Words("Always"),   Nothing),
    (Plain,     ToConfirm, Bob,     Button("Always"),  IsAsked),
    (Plain,     ToConfirm, Bob,     Button("Yes"),     IsFirst),
    (Plain,     ToConfirm, Mallory, Button("Always"),  IsTold("not among the approvers")),
    (Plain,     Refused,   Ada,     Button("Yes"),     IsTold("too late")),
    (Plain,     Refused,   Bob,     Button("Yes"),     IsTold("too late")),
    (Plain,     Refused,   Mallory, Button("Yes"),     IsTold("not among the approvers")),
    (Plain,     Refused,   Bob,     Words("Yes"),      Nothing),
    (Plain,     Cancelled, Bob,     Button("Yes"),     IsTold("too late")),
    (Plain,     Cancelled, Mallory, Button("Yes"),     IsTold("not among the approvers")),
    (BobAsks,   Open,      Bob,     Button("Yes"),     IsTold("somebody else has to answer")),
    (BobAsks,   Open,      Bob,     Button("No"),      IsTold("somebody else has to answer")),
    (BobAsks,   Open,      Bob,     Reply("Yes"),      Nothing),
    (BobAsks,   Open,      Ada,     Button("Yes"),     IsFirst),
    (BobAsks,   OneIn,     Bob,     Button("Yes"),     IsTold("somebody else has to answer")),
    (BobAsks,   ToConfirm, Bob,     Button("Always"),  IsTold("somebody else has to answer")),
    (BobAsks,   Refused,   Bob,     Button("Yes"),     IsTold("somebody else has to answer")),
    (BobIsABot, Open,      Bob,     Button("Yes"),     Nothing),
    (BobIsABot, Open,      Bob,     Button("No"),      Nothing),
    (BobIsABot, Open,      Bob,     Words("Yes"),      Nothing),
    (BobIsABot, OneIn,     Bob,     Button("Yes"),     Nothing),
    (BobIsABot, ToConfirm, Bob,     Button("Always"),  Nothing),
    (BobIsABot, Refused,   Bob,     Button("Yes"),     Nothing),
];

const LIMITS: &str = "[limits]\nrefused_in_a_row = 100\npresses_a_minute = 1000\n\
                      cards_a_minute = 1000\ncards_a_minute_in_room = 1000\ncards_a_minute_of_session = 1000\n";

async fn what_each_person_can_do_by_each_way_in_each_state<P: Place>(plan: Plan) {
    for house in [Plain, BobAsks, BobIsABot] {
        let (room, for_bob) = match house {
            Plain => ("approvals = 2\nconfirm = [\"allow_always\"]", false),
            BobAsks => ("approvals = 2\nconfirm = [\"allow_always\"]\nrequester_may_answer = false", true),
            BobIsABot => ("approvals = 2\nconfirm = [\"allow_always\"]\nbots = [\"BOB\"]", false),
        };
        let mut stage = Stage::<P>::set(Plan { room, for_bob, more: LIMITS, ..plan }).await;
        for (at, (_, state, who, way, then)) in TABLE.iter().enumerate().filter(|(_, row)| row.0 == house) {
            row(&mut stage, &format!("row-{at}."), *state, (*who, *way), *then).await;
        }
    }
}

async fn row<P: Place>(set: &mut Stage<P>, name: &str, state: State, (who, way): (Who, Way), then: Then) {
    let (prompt, card) = set.ask_and_see(name).await;
    match state {
        Open => {}
        OneIn => {
            set.place.press(Ada, &card, "Yes").await;
            set.place.shows(&card, "chose \"Yes\"").await;
        }
        ToConfirm => set.place.press(Ada, &card, "Always").await,
        Refused => {
            set.place.press(Ada, &card, "No").await;
            assert_eq!(set.outcome(&prompt, name).await, (selected("no 3"), false));
            set.place.wait_until_dead(&card).await;
        }
        Cancelled => {
            let session = set.session.clone();
            set.bridge.cancel(&session).await;
            assert!(!set.outcome(&prompt, name).await.1);
            set.place.wait_until_dead(&card).await;
        }
    }
    match way {
        Button(label) => set.place.press(who, &card, label).await,
        Private(label) => set.place.confirm(who, label).await,
        Words(text) => set.place.say(who, text).await,
        Reply(text) => set.place.reply_to(who, &card, text).await,
    }
    match then {
        Settles(id, runs) => return assert_eq!(set.outcome(&prompt, name).await, (selected(id), runs)),
        IsFirst => set.place.shows(&card, &format!("chose {:?}", label(way))).await,
        IsAsked => set.place.confirm(who, label(way)).await,
        IsTold(why) => drop(set.place.private_reply(who, why).await),
        Nothing => {}
    }
    if matches!(state, Refused | Cancelled) {
        return assert!(!set.has_run(name), "{name} was run");
    }
    set.assert_open(name);
    set.place.press(Ada, &card, "No").await;
    assert_eq!(set.outcome(&prompt, name).await, (selected("no 3"), false));
}

fn label(way: Way) -> &'static str {
    let (Button(text) | Private(text) | Words(text) | Reply(text)) = way;
    text
}
