//! What holds in every kind of room.
//!
//! A scenario is a function over any [`Place`](crate::stage::Place); named in the list at the head of its file, it runs
//! once in each kind of room, as `matrix_plain::NAME`, `matrix_encrypted::NAME`, `discord::NAME` and `web::NAME`. A new kind of room
//! is an implementation of `Place` and one more line here.

/// Makes a test of each scenario for each kind of room.
macro_rules! in_every_room {
    ($($scenario:ident),+ $(,)?) => {
        in_room! { matrix_plain, Matrix, false, $($scenario),+ }
        in_room! { matrix_encrypted, Matrix, true, $($scenario),+ }
        in_room! { discord, Discord, false, $($scenario),+ }
        in_room! { web, Web, false, $($scenario),+ }
    };
}

macro_rules! in_room {
    ($name:ident, $place:ident, $encrypted:literal, $($scenario:ident),+) => {
        mod $name {
            use $crate::stage::{PLAIN, Plan, $place};

            $(
                #[tokio::test]
                async fn $scenario() {
                    super::$scenario::<$place>(Plan { encrypted: $encrypted, ..PLAIN }).await;
                }
            )+
        }
    };
}

mod buttons;
mod changes;
mod choosing;
mod details;
mod endings;
mod outages;
mod privacy;
mod restarts;
mod rules;
mod serving;
mod table;
mod who;
mod words;
