//! A request to render a page.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use tokio::time::Instant;
use url::Url;
use websvc_transport::{Proxy, TlsPolicy, UrlPolicy};

use crate::state::Session;

/// A request to render a page. Start from [`RenderRequest::new`] and change the fields that differ.
#[derive(Debug, Clone)]
pub struct RenderRequest {
    /// The URL, with the scheme `http` or `https`.
    pub url: Url,
    /// The team that the page is for. Free slots go to the teams with the fewest pages.
    pub team: Arc<str>,
    /// Headers for requests to the origin of `url`, and to no other. `User-Agent` and `Accept-Language` apply to all
    /// requests and scripts of the page. Cookies belong in `cookies`.
    pub headers: HeaderMap,
    /// Cookies to set for the URL before it is opened.
    pub cookies: Vec<Cookie>,
    /// The emulated device.
    pub device: Device,
    /// The size of the window, in place of the device's.
    pub viewport: Option<Viewport>,
    /// Languages, time zone, formats and geolocation.
    pub locale: Locale,
    /// The rule for blocked requests.
    pub block: Option<BlockRule>,
    /// The rule for the hosts that the page may connect to, in addition to the address guard.
    pub hosts: Option<HostRule>,
    /// Checked before every navigation of the main frame except the first: redirects, and navigations by scripts and
    /// actions. If it refuses one, the page ends.
    pub navigation_rule: Option<UrlPolicy>,
    /// The rule for the charset of a page that declares none.
    pub charset_rule: Option<CharsetRule>,
    /// A style sheet to add to the page and its frames. It is not part of the returned document.
    pub style: Option<String>,
    /// Returns another style sheet for the loaded page, and again after the steps.
    pub style_rule: Option<StyleRule>,
    /// The handling of certificates that cannot be verified.
    pub tls: TlsPolicy,
    /// The upstream proxy for all hosts. Without one, connections are direct.
    pub proxy: Option<Proxy>,
    /// The state of the page to wait for.
    pub wait_until: WaitUntil,
    /// The time to wait after that.
    pub wait_for: Duration,
    /// The deadline of the request, including the wait for a permit.
    pub deadline: Instant,
    /// The actions to run, in this order, before the content is read.
    pub steps: Vec<Step>,
    /// True to read the computed styles of the final document.
    pub reads_styles: bool,
    /// The screenshot to take at the end.
    pub screenshot: Option<Screenshot>,
    /// The initial cookies and storage of the page, in addition to `cookies`. Without it, they are empty.
    pub session: Option<Session>,
}

impl RenderRequest {
    /// Creates a request with default settings.
    #[must_use]
    pub fn new(url: Url, deadline: Instant) -> Self {
        Self {
            url,
            team: Arc::default(),
            headers: HeaderMap::new(),
            cookies: Vec::new(),
            device: Device::Desktop,
            viewport: None,
            locale: Locale::default(),
            block: None,
            hosts: None,
            navigation_rule: None,
            charset_rule: None,
            style: None,
            style_rule: None,
            tls: TlsPolicy::Verify,
            proxy: None,
            wait_until: WaitUntil::Idle,
            wait_for: Duration::ZERO,
            deadline,
            steps: Vec::new(),
            reads_styles: false,
            screenshot: None,
            session: None,
        }
    }
}

/// A cookie for the page's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// An emulated device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// A window of 1280 by 800 CSS pixels.
    #[default]
    Desktop,
    /// A phone with a touch screen of 390 by 844 CSS pixels and a device pixel ratio of 3.
    Mobile,
}

/// The size of a window, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewport {
    /// The width, at least 1.
    pub width: u32,
    /// The height, at least 1.
    pub height: u32,
}

/// The location-dependent settings of a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Locale {
    /// `navigator.languages` and `Accept-Language`, in order of preference. English if empty.
    pub languages: Vec<String>,
    /// The time zone, as an IANA name such as `Europe/Berlin`.
    pub timezone: Option<String>,
    /// The locale for the formats of numbers and dates, such as `de-DE`.
    pub formats: Option<String>,
    /// The result of the geolocation API.
    pub geolocation: Option<Geolocation>,
}

/// A geographic position, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geolocation {
    /// The latitude, -90 to 90.
    pub latitude: f64,
    /// The longitude, -180 to 180.
    pub longitude: f64,
}

/// Returns true for requests of a page to block. The arguments are the URL of the request, the URL of the page, and the
/// resource type of CDP (`Document`, `Script`, `Image`, ...). It is not called for the page itself.
#[derive(Clone)]
pub struct BlockRule(pub Arc<BlockFn>);

type BlockFn = dyn Fn(&str, &Url, &str) -> bool + Send + Sync;

impl fmt::Debug for BlockRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlockRule")
    }
}

/// Returns true for the hosts that a page may connect to. It is called before a name is resolved, for connections of all
/// kinds: pages, frames, scripts, workers and WebSockets.
#[derive(Clone)]
pub struct HostRule(pub Arc<HostFn>);

type HostFn = dyn Fn(&str) -> bool + Send + Sync;

impl fmt::Debug for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostRule")
    }
}

/// Returns the charset of a page that declares none, as a label for `Content-Type`; `None` if it is windows-1252. The
/// argument is the beginning of its document, as decoded in windows-1252.
#[derive(Clone)]
pub struct CharsetRule(pub Arc<CharsetFn>);

type CharsetFn = dyn Fn(&str) -> Option<&'static str> + Send + Sync;

impl fmt::Debug for CharsetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CharsetRule")
    }
}

/// Returns a style sheet for a page, or an empty string. The arguments are its URL, and its classes and IDs.
#[derive(Clone)]
pub struct StyleRule(pub Arc<StyleFn>);

type StyleFn = dyn Fn(&Url, &[String], &[String]) -> String + Send + Sync;

impl fmt::Debug for StyleRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StyleRule")
    }
}

/// The state of a page to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WaitUntil {
    /// The HTML is parsed.
    Parsed,
    /// The images, styles and scripts are loaded.
    Loaded,
    /// The page is idle: it has stopped loading and changing, or several seconds have passed.
    #[default]
    Idle,
}

/// One action on a page (specification, section 2.2.2).
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Waits for a duration.
    Wait(Duration),
    /// Waits until an element that matches a CSS selector is visible.
    WaitFor(String),
    /// Takes a screenshot.
    Screenshot(Screenshot),
    /// Clicks one or all matching elements.
    Click {
        /// A CSS selector.
        selector: String,
        /// The matching elements to click.
        matches: Matches,
    },
    /// Types a text into the focused element.
    Write(String),
    /// Presses a key or a combination such as `Control+A`.
    Press(String),
    /// Scrolls the page or an element by the height of its visible part.
    Scroll {
        /// The direction.
        direction: Direction,
        /// The CSS selector of the element. Without one, the page is scrolled.
        selector: Option<String>,
    },
    /// Returns the current URL and HTML.
    Scrape,
    /// Runs JavaScript in the page.
    Script(String),
    /// Prints the page to a PDF.
    Print(Print),
}

impl Step {
    /// Returns the name of the action in the API.
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

/// The elements that a click applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matches {
    /// The first match. It is an error if there is none.
    #[default]
    First,
    /// All matches, or none.
    All,
}

/// The direction of a scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Toward the start.
    Up,
    /// Toward the end.
    #[default]
    Down,
}

/// A request for a screenshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Screenshot {
    /// The part of the page to show.
    pub extent: Extent,
    /// The quality, 1 to 100. Below 100 the image is a JPEG, otherwise a PNG.
    pub quality: Option<u8>,
    /// The size of the window for this screenshot.
    pub viewport: Option<Viewport>,
}

/// The part of a page that a screenshot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// The visible part.
    #[default]
    Window,
    /// The whole page.
    FullPage,
}

/// A request for a PDF of the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Print {
    /// The paper size.
    pub paper: Paper,
    /// The paper orientation.
    pub orientation: Orientation,
    /// The scale, 0.1 to 2. A value outside is replaced by the nearest one, with a warning.
    pub scale: f64,
}

impl Default for Print {
    fn default() -> Self {
        Self { paper: Paper::Letter, orientation: Orientation::Portrait, scale: 1.0 }
    }
}

/// A paper orientation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Orientation {
    /// Taller than wide.
    #[default]
    Portrait,
    /// Wider than tall.
    Landscape,
}

/// A paper size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are standard")]
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
    /// Returns width and height in inches in portrait orientation (ISO 216, ANSI/ASME Y14.1).
    #[must_use]
    pub fn inches(self) -> (f64, f64) {
        let millimeters = |width: f64, height: f64| (width / 25.4, height / 25.4);
        match self {
            Self::A0 => millimeters(841.0, 1189.0),
            Self::A1 => millimeters(594.0, 841.0),
            Self::A2 => millimeters(420.0, 594.0),
            Self::A3 => millimeters(297.0, 420.0),
            Self::A4 => millimeters(210.0, 297.0),
            Self::A5 => millimeters(148.0, 210.0),
            Self::A6 => millimeters(105.0, 148.0),
            Self::Letter => (8.5, 11.0),
            Self::Legal => (8.5, 14.0),
            Self::Tabloid => (11.0, 17.0),
            Self::Ledger => (17.0, 11.0),
        }
    }
}
