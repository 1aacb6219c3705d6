//! What a page is looked at with, and how it looks.

use std::path::Path;

use chromiumoxide::cdp::browser_protocol::browser::{
    PermissionDescriptor, PermissionSetting, SetDownloadBehaviorBehavior, SetDownloadBehaviorParams, SetPermissionParams,
};
use chromiumoxide::cdp::browser_protocol::emulation::{
    MediaFeature, SetDeviceMetricsOverrideParams, SetEmulatedMediaParams, SetTimezoneOverrideParams,
    SetTouchEmulationEnabledParams,
};
use chromiumoxide::cdp::browser_protocol::network::OverrideNetworkStateParams;
use chromiumoxide::cdp::browser_protocol::page::CaptureScreenshotFormat;
use chromiumoxide::page::ScreenshotParams;

use super::Page;
use crate::wait::within;

/// What it is seen on.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// In CSS pixels, as is the height.
    pub width: u16,
    pub height: u16,
    /// Dots to a CSS pixel, each way.
    pub scale: u8,
    /// A phone's, which is touched; a desktop's otherwise.
    pub touch: bool,
}

impl Screen {
    pub const DESKTOP: Self = Self { width: 1280, height: 800, scale: 1, touch: false };
    pub const PHONE: Self = Self { width: 390, height: 844, scale: 3, touch: true };
}

/// What the person's system is set to.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    Light,
    Dark,
}

impl Page {
    pub async fn screen(&self, screen: Screen) {
        let Screen { width, height, scale, touch } = screen;
        self.command(SetDeviceMetricsOverrideParams::new(width, height, scale, touch)).await;
        self.command(SetTouchEmulationEnabledParams::new(touch)).await;
    }

    pub async fn scheme(&self, scheme: Scheme) {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let feature = MediaFeature::new("prefers-color-scheme", value);
        self.command(SetEmulatedMediaParams::builder().feature(feature).build()).await;
    }

    /// `Asia/Tokyo`
    pub async fn time_zone(&self, name: &str) {
        self.command(SetTimezoneOverrideParams::new(name)).await;
    }

    /// Takes the network away from this person, also from what they are loading, or gives it back.
    pub async fn offline(&self, offline: bool) {
        self.network.cut(offline);
        // What the page is told.
        self.command(OverrideNetworkStateParams::new(offline, 0, -1, -1)).await;
    }

    /// As if the person had been asked by this origin, and had said yes.
    pub async fn allow_notifications(&self, origin: &str) {
        let permission = PermissionDescriptor::new("notifications");
        let allow = SetPermissionParams::builder().permission(permission).setting(PermissionSetting::Granted);
        let allow = allow.origin(origin).browser_context_id(self.context.clone()).build().expect("complete");
        within("a permission", self.browser.execute(allow)).await.expect("Chromium grants it");
    }

    /// Puts whatever this person saves into a folder, under the name that the page gives it.
    pub async fn save_to(&self, folder: &Path) {
        let save = SetDownloadBehaviorParams::builder().behavior(SetDownloadBehaviorBehavior::Allow);
        let save = save.download_path(folder.to_str().expect("UTF-8")).browser_context_id(self.context.clone());
        within("a folder", self.browser.execute(save.build().expect("complete"))).await.expect("Chromium saves there");
    }

    /// What is on the screen, as PNG, dot by dot.
    pub async fn screenshot(&self) -> Vec<u8> {
        let picture = ScreenshotParams::builder().format(CaptureScreenshotFormat::Png).build();
        within("a picture", self.tab.screenshot(picture)).await.expect("Chromium draws it")
    }
}
