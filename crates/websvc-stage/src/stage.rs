//! The stages of a request and their names.

use tracing::Span;
use tracing::field::Empty;

use crate::request::TARGET;

macro_rules! stages {
    ($($(#[$doc:meta])* $stage:ident = $name:literal,)*) => {
        /// A part of the work on a request. Stages can be nested: `fetch` within `page` within `gather`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Stage {
            $($(#[$doc])* $stage,)*
        }

        impl Stage {
            /// All stages in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$stage,)*];

            /// Returns the name that metrics, traces and the manual use.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$stage => $name,)*
                }
            }

            /// Creates a span of this name. It can have no other fields than these.
            pub(crate) fn span(self) -> Span {
                match self {
                    $(Self::$stage => {
                        tracing::info_span!(target: TARGET, $name, source = Empty)
                    })*
                }
            }
        }
    };
}

stages! {
    /// Authentication of the caller.
    Authenticate = "authenticate",
    /// The wait for admission of the request.
    Admit = "admit",
    /// Decoding and validation of the body.
    Decode = "decode",
    /// The wait of a search for a compute permit.
    ComputeWait = "compute_wait",
    /// The hold of credits.
    Hold = "hold",
    /// The results of a search, from all sources.
    Find = "find",
    /// The request to one source.
    Source = "source",
    /// Retrieval, ranking and selection of hits in the embedded index.
    Rank = "rank",
    /// The snippets of the hits of the embedded index.
    Snippets = "snippets",
    /// The merge of the sources' result lists.
    Merge = "merge",
    /// The check of the results by threat protection.
    ThreatFilter = "threat_filter",
    /// All pages of the results.
    Gather = "gather",
    /// One page.
    Page = "page",
    /// The check of one URL of a page by threat protection.
    UrlCheck = "url_check",
    /// The lookup in the page cache.
    Cache = "cache",
    /// The fetch of a page from its host.
    Fetch = "fetch",
    /// The rendering of a page in the browser.
    Browser = "browser",
    /// The conversion of a document, such as a PDF, to a page.
    Document = "document",
    /// The parsing of a page and the extraction of its formats.
    Extract = "extract",
    /// The request to a language model.
    Model = "model",
    /// The download of a page's sound or video.
    Media = "media",
    /// The comparison of a page with its last scrape.
    Compare = "compare",
    /// The write of a page to the page cache.
    Store = "store",
    /// The upload of a page's files to the file store.
    Publish = "publish",
    /// The write of pages to the index and its mirrors.
    Ingest = "ingest",
    /// The assembly of the response from hits and pages.
    Assemble = "assemble",
    /// The charge of credits.
    Settle = "settle",
    /// The encoding of the response.
    Encode = "encode",
}
