//! What a hand does.

use chromiumoxide::cdp::browser_protocol::input::{
    DispatchKeyEventParams, DispatchKeyEventType, DispatchTouchEventParams, DispatchTouchEventReturns, TouchPoint,
};
use chromiumoxide::keys::get_key_definition;
use chromiumoxide::layout::Point;
use chromiumoxide::types::MethodId;
use chromiumoxide::{Command, Method};
use serde::Serialize;
use serde_json::json;

use super::Page;
use crate::wait::{until, within};

/// Where the first element that matches can be hit. If it is out of sight, or something covers it, it is brought into the
/// middle first. `null`: there is none, or it is covered there too.
const POINT: &str = "(selector => {
    const element = document.querySelector(selector);
    const point = () => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const middle = [x + width / 2, y + height / 2];
        return element.contains(document.elementFromPoint(...middle)) ? middle : null;
    };
    if (!element) return null;
    if (!point()) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    return point();
})";

/// The generated [`DispatchTouchEventParams`] leaves out a list that is empty, and the end of a touch has to have one.
#[derive(Serialize)]
struct Touch {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "touchPoints")]
    points: Vec<TouchPoint>,
}

impl Method for Touch {
    fn identifier(&self) -> MethodId {
        DispatchTouchEventParams::IDENTIFIER.into()
    }
}

impl Command for Touch {
    type Response = DispatchTouchEventReturns;
}

impl Page {
    /// Presses and releases the mouse's button in the middle of the first element that matches, once nothing covers it.
    pub async fn click(&self, selector: &str) {
        until(&clickable(selector), async || self.try_click(selector).await.then_some(())).await;
    }

    /// Like [`Page::click`], if that can be done at once.
    pub async fn try_click(&self, selector: &str) -> bool {
        let Some(point) = self.point_of(selector).await else { return false };
        within("a click", self.tab.click(point)).await.unwrap_or_else(|error| panic!("{selector}: {error}"));
        true
    }

    /// With a finger, where the [screen](super::Screen) is one that can be touched.
    pub async fn tap(&self, selector: &str) {
        let Point { x, y } = until(&clickable(selector), async || self.point_of(selector).await).await;
        self.command(Touch { kind: "touchStart", points: vec![TouchPoint::new(x, y)] }).await;
        self.command(Touch { kind: "touchEnd", points: Vec::new() }).await;
    }

    /// Presses and releases a key of a keyboard: `Tab`, `Enter`, ` `, `a`. A character for which there is no key comes as
    /// if there were one.
    pub async fn key(&self, key: &str) {
        let event = DispatchKeyEventParams::builder().key(key);
        let (event, text) = match get_key_definition(key) {
            Some(known) => {
                let event = event.code(known.code).windows_virtual_key_code(known.key_code);
                (event, known.text.or((known.key.chars().count() == 1).then_some(known.key)))
            }
            None => (event, Some(key)),
        };
        let pressed = match text {
            Some(text) => event.clone().text(text).r#type(DispatchKeyEventType::KeyDown),
            None => event.clone().r#type(DispatchKeyEventType::RawKeyDown),
        };
        self.command(pressed.build().expect("complete")).await;
        self.command(event.r#type(DispatchKeyEventType::KeyUp).build().expect("complete")).await;
    }

    /// Types it, key by key, into whatever has the focus.
    pub async fn type_text(&self, text: &str) {
        for character in text.chars() {
            self.key(character.encode_utf8(&mut [0; 4])).await;
        }
    }

    async fn point_of(&self, selector: &str) -> Option<Point> {
        let point = self.try_eval(&format!("{POINT}({})", json!(selector))).await.ok()?;
        Some(Point::new(point[0].as_f64()?, point[1].as_f64()?))
    }
}

fn clickable(selector: &str) -> String {
    format!("{selector} to be where it can be clicked")
}
