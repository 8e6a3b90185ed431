//! The lists in the form in which they are asked.

use std::fmt;

use adblock::Engine;
use adblock::lists::{FilterSet, ParseOptions};
use adblock::request::Request;

use crate::css;

/// Hosts of advertising and of questions about cookies.
const HOSTS: &str = include_str!("../lists/hosts.txt");

/// Kinds of resources that a page requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// The page itself; it is never blocked.
    Document,
    /// A page inside of the page.
    Frame,
    /// A script.
    Script,
    /// A style sheet.
    Stylesheet,
    /// A picture.
    Image,
    /// A font.
    Font,
    /// Sound or a film.
    Media,
    /// A request by a script.
    Fetch,
    /// A connection by a script.
    WebSocket,
    /// A message to a server that wants no answer.
    Ping,
    /// Anything else.
    Other,
}

impl ResourceKind {
    /// Returns the name that filters have for it; `None` for what is never blocked.
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

/// Loaded lists. `Send` and `Sync`; a question takes some ten microseconds.
pub struct Blocker {
    engine: Engine,
    banners: String,
    has_lists: bool,
}

impl Blocker {
    /// Compiles the bundled lists and these, whose lines are filters as Adblock Plus writes them, or lines of a hosts
    /// file. What is neither is passed over.
    pub(crate) fn compile(lists: Vec<String>) -> Self {
        let mut filters = FilterSet::new(false);
        filters.add_filter_list(HOSTS.to_owned(), ParseOptions::default());
        let has_lists = !lists.is_empty();
        for list in lists {
            let format = crate::file::format_of(&list);
            filters.add_filter_list(list, ParseOptions { format, ..ParseOptions::default() });
        }
        Self { engine: Engine::new_with_filter_set(filters), banners: css::banners(), has_lists }
    }

    /// Tells whether a request of the page at `source_url` is to be refused.
    #[must_use]
    pub fn blocks(&self, url: &str, source_url: &str, kind: ResourceKind) -> bool {
        let Some(kind) = kind.name() else { return false };
        // What is no URL with a host (data:, blob:) goes nowhere and need not be refused.
        let Ok(request) = Request::new(url, source_url, kind, "GET") else { return false };
        self.engine.check_network_request(&request).should_block()
    }

    /// Returns the style sheet to put into the page at this URL before it is drawn: it hides questions about cookies,
    /// and what the lists want hidden there.
    #[must_use]
    pub fn hide_css(&self, url: &str) -> String {
        let mut sheet = self.banners.clone();
        let hidden = self.engine.url_cosmetic_resources(url).hide_selectors;
        let mut selectors: Vec<&str> = hidden.iter().map(String::as_str).collect();
        selectors.sort_unstable();
        css::hide(&mut sheet, selectors.into_iter());
        sheet
    }

    /// Tells whether there are lists beside the bundled ones, which alone hide things by classes and ids.
    #[must_use]
    pub fn has_lists(&self) -> bool {
        self.has_lists
    }

    /// Returns the style sheet for what the lists want hidden anywhere by its classes and ids, of those that the page
    /// has. Lists have tens of thousands of them, of which a page has a few.
    #[must_use]
    pub fn hide_more_css(&self, url: &str, classes: &[String], ids: &[String]) -> String {
        let resources = self.engine.url_cosmetic_resources(url);
        let mut sheet = String::new();
        if resources.generichide {
            return sheet;
        }
        let mut selectors = self.engine.hidden_class_id_selectors(classes, ids, &resources.exceptions);
        selectors.sort_unstable();
        css::hide(&mut sheet, selectors.iter().map(String::as_str));
        sheet
    }
}

impl fmt::Debug for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocker").finish_non_exhaustive()
    }
}
