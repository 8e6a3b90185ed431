//! Compiled blocklists: matching of requests, and style sheets that hide elements.

use std::fmt;

use adblock::Engine;
use adblock::lists::{FilterSet, ParseOptions};
use adblock::request::Request;

use crate::blocklist::{css, domain_resolver};

/// The bundled list: hosts of advertising and of cookie banners.
const HOSTS: &str = include_str!("../../lists/hosts.txt");

/// The kind of a resource that a page requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// The page itself, which is never blocked.
    Document,
    /// The document of a frame.
    Frame,
    /// A script.
    Script,
    /// A style sheet.
    Stylesheet,
    /// An image.
    Image,
    /// A font.
    Font,
    /// Audio or video.
    Media,
    /// A request of a script.
    Fetch,
    /// A WebSocket.
    WebSocket,
    /// A ping or a beacon.
    Ping,
    /// Anything else.
    Other,
}

impl ResourceKind {
    /// Returns its name in filters; `None` if it is never blocked.
    const fn name(self) -> Option<&'static str> {
        match self {
            Self::Document => None,
            Self::Frame => Some("sub_frame"),
            Self::Script => Some("script"),
            Self::Stylesheet => Some("stylesheet"),
            Self::Image => Some("image"),
            Self::Font => Some("font"),
            Self::Media => Some("media"),
            Self::Fetch => Some("xmlhttprequest"),
            Self::WebSocket => Some("websocket"),
            Self::Ping => Some("ping"),
            Self::Other => Some("other"),
        }
    }
}

/// Compiled blocklists. A match takes about ten microseconds.
pub struct Blocker {
    engine: Engine,
    /// The style sheet that hides cookie banners.
    banner_css: String,
    has_lists: bool,
}

impl Blocker {
    /// Compiles the bundled list and `lists`. Their lines are filters in the syntax of Adblock Plus, or lines of a hosts file.
    /// Other lines are skipped.
    pub(crate) fn compile(lists: Vec<String>) -> Self {
        domain_resolver::install();
        let mut filters = FilterSet::new(false);
        filters.add_filter_list(HOSTS.to_owned(), ParseOptions::default());
        let has_lists = !lists.is_empty();
        for list in lists {
            let format = crate::blocklist::file::format_of(&list);
            filters.add_filter_list(list, ParseOptions { format, ..ParseOptions::default() });
        }
        Self { engine: Engine::new_with_filter_set(filters), banner_css: css::banner_css(), has_lists }
    }

    /// Returns whether a request of the page at `source_url` must be blocked.
    #[must_use]
    pub fn blocks(&self, url: &str, source_url: &str, kind: ResourceKind) -> bool {
        let Some(kind) = kind.name() else { return false };
        // A URL without a host (`data:`, `blob:`) causes no network request.
        let Ok(request) = Request::new(url, source_url, kind, "GET") else { return false };
        self.engine.check_network_request(&request).should_block()
    }

    /// Returns the style sheet to add to a page before it is rendered. It hides cookie banners, and the elements that the
    /// lists hide on this site.
    #[must_use]
    pub fn hide_css(&self, url: &str) -> String {
        let mut sheet = self.banner_css.clone();
        let hidden = self.engine.url_cosmetic_resources(url).hide_selectors;
        let mut selectors: Vec<&str> = hidden.iter().map(String::as_str).collect();
        selectors.sort_unstable();
        css::append_rules(&mut sheet, selectors.into_iter());
        sheet
    }

    /// Returns whether there are lists other than the bundled one. Only those hide elements by class and ID, see
    /// [`Blocker::generic_hide_css`].
    #[must_use]
    pub fn has_lists(&self) -> bool {
        self.has_lists
    }

    /// Returns the style sheet that hides elements by the class and ID filters for all sites. Lists have tens of thousands of
    /// these, so only those for the given classes and IDs of the page are included.
    #[must_use]
    pub fn generic_hide_css(&self, url: &str, classes: &[String], ids: &[String]) -> String {
        let resources = self.engine.url_cosmetic_resources(url);
        let mut sheet = String::new();
        if resources.generichide {
            return sheet;
        }
        let mut selectors = self.engine.hidden_class_id_selectors(classes, ids, &resources.exceptions);
        selectors.sort_unstable();
        css::append_rules(&mut sheet, selectors.iter().map(String::as_str));
        sheet
    }
}

impl fmt::Debug for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocker").finish_non_exhaustive()
    }
}
