//! What a page is opened for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use tokio::time::Instant;
use url::Url;
use websvc_transport::{Proxy, TlsPolicy, UrlPolicy};

use crate::state::Session;

/// One page: start from [`RenderRequest::new`] and change what differs.
#[derive(Debug, Clone)]
pub struct RenderRequest {
    /// `http` or `https`.
    pub url: Url,
    /// Sent with requests to the origin of `url`, and to nobody else. `User-Agent` and `Accept-Language` are what
    /// the whole page says of itself; cookies belong into `cookies`.
    pub headers: HeaderMap,
    /// Set for the URL before it is opened.
    pub cookies: Vec<Cookie>,
    /// What the page is looked at with.
    pub device: Device,
    /// Replaces the size of the device's window.
    pub viewport: Option<Viewport>,
    /// Where the page is looked at from.
    pub locale: Locale,
    /// What is not to be loaded.
    pub block: Option<BlockRule>,
    /// Asked about every document that the page itself goes to, redirects and those of its scripts and of actions too, the
    /// first one excepted. A refusal ends the page.
    pub navigation_rule: Option<UrlPolicy>,
    /// A style sheet over those of the page and its frames; it is not part of the document.
    pub style: Option<String>,
    /// Asked for one more style sheet once the page is there, and again after the steps.
    pub late_style: Option<StyleRule>,
    /// What to do about certificates that cannot be verified.
    pub tls: TlsPolicy,
    /// The way to all hosts; directly when there is none.
    pub proxy: Option<Proxy>,
    /// When the page counts as there.
    pub wait_until: WaitUntil,
    /// Waited for after that.
    pub wait_for: Duration,
    /// When the answer must be there, the wait for a free page included.
    pub deadline: Instant,
    /// Done in this order before the content is taken.
    pub steps: Vec<Step>,
    /// A picture of the end.
    pub screenshot: Option<Screenshot>,
    /// What the page finds in its cookies and its storage, beside `cookies`; nothing when there is none.
    pub session: Option<Session>,
}

impl RenderRequest {
    /// Returns a request without any extras.
    #[must_use]
    pub fn new(url: Url, deadline: Instant) -> Self {
        Self {
            url,
            headers: HeaderMap::new(),
            cookies: Vec::new(),
            device: Device::Desktop,
            viewport: None,
            locale: Locale::default(),
            block: None,
            navigation_rule: None,
            style: None,
            late_style: None,
            tls: TlsPolicy::Verify,
            proxy: None,
            wait_until: WaitUntil::Settled,
            wait_for: Duration::ZERO,
            deadline,
            steps: Vec::new(),
            screenshot: None,
            session: None,
        }
    }
}

/// A cookie for the page's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What a page is looked at with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// A window of 1280 by 800.
    #[default]
    Desktop,
    /// A telephone with a touch screen of 390 by 844, three times as fine.
    Mobile,
}

/// The size of a window, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewport {
    /// In pixels, at least 1.
    pub width: u32,
    /// In pixels, at least 1.
    pub height: u32,
}

/// Where a page is looked at from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Locale {
    /// `navigator.languages` and `Accept-Language`, the preferred first; English when there are none.
    pub languages: Vec<String>,
    /// An IANA name such as `Europe/Berlin`.
    pub timezone: Option<String>,
    /// How numbers and dates are written, such as `de-DE`.
    pub formats: Option<String>,
    /// Told to a page that asks for it.
    pub geolocation: Option<Geolocation>,
}

/// A place on earth, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geolocation {
    /// -90 to 90.
    pub latitude: f64,
    /// -180 to 180.
    pub longitude: f64,
}

/// Decides which requests of a page are not made: asked with the request's URL, the page's URL and the kind of
/// resource as Chromium names it (`Document`, `Script`, `Image`, ...). The page itself is not asked about.
#[derive(Clone)]
pub struct BlockRule(pub Arc<Blocks>);

type Blocks = dyn Fn(&str, &Url, &str) -> bool + Send + Sync;

impl fmt::Debug for BlockRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlockRule")
    }
}

/// Returns a style sheet for the page at a URL, which has these classes and ids; an empty one for none.
#[derive(Clone)]
pub struct StyleRule(pub Arc<Styles>);

type Styles = dyn Fn(&Url, &[String], &[String]) -> String + Send + Sync;

impl fmt::Debug for StyleRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StyleRule")
    }
}

/// When a page counts as there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WaitUntil {
    /// Its HTML is read.
    Parsed,
    /// Its pictures, styles and scripts are there.
    Loaded,
    /// It has stopped loading and changing, or does not stop within some seconds.
    #[default]
    Settled,
}

/// One action (specification, section 2.2.2).
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Waits for a time.
    Wait(Duration),
    /// Waits for an element that can be seen.
    WaitFor(String),
    /// Takes a picture.
    Screenshot(Screenshot),
    /// Clicks elements.
    Click {
        /// A CSS selector.
        selector: String,
        /// Which of the matches.
        matches: Matches,
    },
    /// Types a text into the focused element.
    Write(String),
    /// Presses a key or a combination such as `Control+A`.
    Press(String),
    /// Scrolls the page, or an element, by its visible part.
    Scroll {
        /// Where to.
        direction: Direction,
        /// A CSS selector; the page when there is none.
        selector: Option<String>,
    },
    /// Takes the URL and the HTML.
    Scrape,
    /// Runs JavaScript in the page.
    Script(String),
    /// Prints the page.
    Print(Print),
}

impl Step {
    /// Returns the action's name, as the interface spells it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Wait(_) | Self::WaitFor(_) => "wait",
            Self::Screenshot(_) => "screenshot",
            Self::Click { .. } => "click",
            Self::Write(_) => "write",
            Self::Press(_) => "press",
            Self::Scroll { .. } => "scroll",
            Self::Scrape => "scrape",
            Self::Script(_) => "executeJavascript",
            Self::Print(_) => "pdf",
        }
    }
}

/// Which elements of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matches {
    /// The first; there must be one.
    #[default]
    First,
    /// All, however few.
    All,
}

/// Where to scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Towards the start.
    Up,
    /// Towards the end.
    #[default]
    Down,
}

/// A picture of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Screenshot {
    /// How much of it.
    pub extent: Extent,
    /// 1 to 100. Below 100 the picture is a JPEG, otherwise a PNG.
    pub quality: Option<u8>,
    /// The size of the window for this picture.
    pub viewport: Option<Viewport>,
}

/// How much of a page a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// What the window shows.
    #[default]
    Window,
    /// All of it.
    FullPage,
}

/// The page as PDF.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Print {
    /// The size of the sheets.
    pub paper: Paper,
    /// High or wide.
    pub orientation: Orientation,
    /// 0.1 to 2; what is beyond is drawn in, with a warning.
    pub scale: f64,
}

impl Default for Print {
    fn default() -> Self {
        Self { paper: Paper::Letter, orientation: Orientation::Portrait, scale: 1.0 }
    }
}

/// How a sheet lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Orientation {
    /// Higher than wide.
    #[default]
    Portrait,
    /// Wider than high.
    Landscape,
}

/// A size of paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the meaning")]
pub enum Paper {
    A0,
    A1,
    A2,
    A3,
    A4,
    A5,
    A6,
    Letter,
    Legal,
    Tabloid,
    Ledger,
}

impl Paper {
    /// Returns width and height in inches (ISO 216, ANSI/ASME Y14.1), as the sheet stands.
    #[must_use]
    pub fn inches(self) -> (f64, f64) {
        let millimetres = |width: f64, height: f64| (width / 25.4, height / 25.4);
        match self {
            Self::A0 => millimetres(841.0, 1189.0),
            Self::A1 => millimetres(594.0, 841.0),
            Self::A2 => millimetres(420.0, 594.0),
            Self::A3 => millimetres(297.0, 420.0),
            Self::A4 => millimetres(210.0, 297.0),
            Self::A5 => millimetres(148.0, 210.0),
            Self::A6 => millimetres(105.0, 148.0),
            Self::Letter => (8.5, 11.0),
            Self::Legal => (8.5, 14.0),
            Self::Tabloid => (11.0, 17.0),
            Self::Ledger => (17.0, 11.0),
        }
    }
}
