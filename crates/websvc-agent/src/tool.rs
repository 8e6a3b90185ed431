//! The tools of a run: calls, outputs and failures.

use crate::stop::Stop;

/// The kind of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolKind {
    /// Searches the web.
    Search,
    /// Lists the URLs of a site.
    Map,
    /// Reads a page or a document.
    Scrape,
    /// Reads several pages of a site.
    Crawl,
    /// Does a task on a page in a browser. Only with the permission of the caller.
    Interact,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolCall {
    /// Searches the web.
    Search {
        /// The query.
        query: String,
    },
    /// Lists the URLs of a site, those that fit the query first.
    Map {
        /// A URL of the site.
        url: String,
        /// Words of the wanted pages; may be empty.
        query: String,
    },
    /// Reads a page or a document.
    Scrape {
        /// Its URL.
        url: String,
    },
    /// Reads a page and pages that it links to.
    Crawl {
        /// The URL of the first page.
        url: String,
        /// The maximum number of pages.
        max_pages: u32,
    },
    /// Does a task on a page in a browser, and reads it then.
    Interact {
        /// The URL of the page.
        url: String,
        /// The task in words.
        task: String,
    },
}

/// The output of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolOutput {
    /// The results of a search or a map, the best first.
    Found(Vec<FoundPage>),
    /// The pages that were read, and the URLs of a crawl that could not be read with the reasons.
    Read {
        /// The pages.
        pages: Vec<ReadPage>,
        /// URLs and reasons.
        failures: Vec<(String, String)>,
        /// The answer of a task on a page; empty for other tools.
        answer: String,
    },
}

/// A page that was found and not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPage {
    /// Its URL.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// Its description; may be empty.
    pub description: String,
}

/// A page that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPage {
    /// Its URL after redirects.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// Its content.
    pub markdown: String,
    /// Its links in the order of the page, each URL once.
    pub links: Vec<Link>,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The URL.
    pub url: String,
    /// The text; may be empty.
    pub text: String,
}

/// The reason why a tool has no output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolFailure {
    /// The rules of the run or of the team forbid the call. The text names the rule and has no text of a page.
    Refused(String),
    /// The call failed, such as with status 404.
    Failed(String),
    /// The run must end.
    Stopped(Stop),
}
