//! What somebody has open.

use std::sync::Arc;

use chromiumoxide::Command;
use chromiumoxide::cdp::browser_protocol::browser::BrowserContextId;
use chromiumoxide::cdp::browser_protocol::emulation::SetFocusEmulationEnabledParams;
use chromiumoxide::cdp::browser_protocol::target::CreateTargetParams;
use chromiumoxide::cdp::js_protocol::runtime::EvaluateParams;
use serde_json::Value;

use super::Screen;
use super::network::Network;
use crate::wait::{until, within};

/// A tab of one person.
pub struct Page {
    pub(super) tab: chromiumoxide::Page,
    pub(super) browser: Arc<chromiumoxide::Browser>,
    /// The person's, as is the network.
    pub(super) context: BrowserContextId,
    pub(super) network: Arc<Network>,
}

impl Page {
    pub(super) async fn blank(browser: Arc<chromiumoxide::Browser>, context: BrowserContextId, network: Arc<Network>) -> Self {
        let blank = CreateTargetParams::builder().url("about:blank").browser_context_id(context.clone()).new_window(true);
        let tab = within("a page", browser.new_page(blank.build().expect("complete"))).await.expect("Chromium opens a page");
        let page = Self { tab, browser, context, network };
        // Everybody's page is in front of them.
        page.command(SetFocusEmulationEnabledParams::new(true)).await;
        page.screen(Screen::DESKTOP).await;
        page
    }

    /// Another page of the same person.
    pub async fn another(&self) -> Self {
        Self::blank(Arc::clone(&self.browser), self.context.clone(), Arc::clone(&self.network)).await
    }

    /// Goes there, and returns once it is loaded.
    pub async fn open(&self, url: &str) {
        self.try_open(url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// Like [`Page::open`], for where there may be nothing.
    pub async fn try_open(&self, url: &str) -> Result<(), String> {
        within(url, self.tab.goto(url)).await.map(drop).map_err(|error| error.to_string())
    }

    pub async fn reload(&self) {
        within("the page anew", self.tab.reload()).await.expect("it can be loaded");
    }

    /// The value of an expression of JavaScript; of a promise what it is kept with.
    pub async fn eval(&self, expression: &str) -> Value {
        self.try_eval(expression).await.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Asks until the expression's value is one that JavaScript takes for true.
    pub async fn wait_for(&self, what: &str, expression: &str) -> Value {
        until(what, async || self.try_eval(expression).await.ok().filter(is_truthy)).await
    }

    /// Fails where it throws, or while the page makes way for another.
    pub async fn try_eval(&self, expression: &str) -> Result<Value, String> {
        let evaluate = EvaluateParams::builder().expression(expression).return_by_value(true).await_promise(true);
        let evaluated = self.tab.execute(evaluate.build().expect("complete")).await.map_err(|error| error.to_string())?;
        match &evaluated.exception_details {
            Some(thrown) => Err(format!("{thrown:?}")),
            None => Ok(evaluated.result.result.value.unwrap_or_default()),
        }
    }

    /// All that this page's server has set, with their attributes as the protocol names them.
    pub async fn cookies(&self) -> Vec<Value> {
        let cookies = within("the cookies", self.tab.get_cookies()).await.expect("Chromium tells them");
        cookies.iter().map(|cookie| serde_json::to_value(cookie).expect("JSON")).collect()
    }

    pub(super) async fn command<C: Command>(&self, command: C) -> C::Response {
        let what = command.identifier().into_owned();
        let done = within(&what, self.tab.execute(command)).await;
        done.unwrap_or_else(|error| panic!("{what}: {error}")).result
    }
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
