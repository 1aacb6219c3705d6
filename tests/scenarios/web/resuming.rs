//! The bridge is started again, and a request goes on waiting on pages that were open all the while.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bridge_core::{Board as _, Clicks as _, Room as _, RoomEvent};
use bridge_model::{ClickReply, PersonId, RoomName, Timestamp};
use countersign_tests::{Browser, port_to_listen_on, until, within};
use tempfile::TempDir;
use web_room::{Keys, Options, Outside, WebBoard, WebClicks, WebRoom, join_link};

use crate::drawn::{ROOM, buttons, card};
use crate::stage::press_option;

#[tokio::test]
async fn a_page_that_had_given_up_a_card_shows_it_again_and_presses_it() {
    let (folder, browser) = (TempDir::new().expect("a folder"), Browser::start().await);
    let options = options(folder.path());
    let (board, clicks) = serve(&options).await;
    let at = board.post(&card("Nobody has yet.", 1), Duration::ZERO).await.expect("a card");
    let keys = Keys::open(&options.folder, options.outside.clone()).expect("keys");
    let key = keys.make(&PersonId::new("ada"), &[RoomName::new(ROOM)], Duration::from_hours(1)).expect("a key");
    let page = browser.person().await;
    page.open(&join_link(&options, &key)).await;
    page.wait_for("the card", "document.querySelector('article.card[data-state=waiting]')").await;
    drop((board, clicks));
    let (board, mut clicks) = serve(&options).await;
    page.wait_for("the card to be given up", "document.querySelector('article.card[data-state=lost]')").await;
    board.resume(&at, &card("Ada has.", 1), Duration::ZERO).await.expect("a card");
    page.wait_for("the card", "document.querySelector('article.card[data-state=waiting]')").await;
    assert_eq!(page.eval("document.querySelectorAll('article.card').length").await, 1);
    assert_eq!(page.eval("document.querySelector('.sections').textContent.includes('Ada has.')").await, true);
    press_option(&page, "No").await;
    let Some(RoomEvent::Clicked(click)) = within("a click", clicks.next()).await else { panic!("no click") };
    assert_eq!((click.token, &click.at.control), (buttons()[1].token, &at.control));
    board.answer(&click.at, &ClickReply::IsFirst).await.expect("told");
    page.wait_for("an answer", "document.querySelector('.reply').textContent.includes('One more person')").await;
}

/// Serves the page, once nobody else does.
async fn serve(options: &Options) -> (WebBoard, WebClicks) {
    let room = until("the port to be free", async || WebRoom::bind(options.clone()).await.ok()).await;
    room.connect().await.expect("a page")
}

fn options(folder: &Path) -> Options {
    Options {
        listen: SocketAddr::from(([127, 0, 0, 1], port_to_listen_on())),
        url: None,
        tls: None,
        proxies: [].into(),
        folder: folder.to_owned(),
        rooms: [RoomName::new(ROOM)].into(),
        outside: Outside {
            // Nothing here waits for a time.
            now: Arc::new(|| Timestamp::from_unix_millis(1_800_000_000_000)),
            random: || std::array::from_fn(|_| fastrand::u8(..)),
        },
    }
}
