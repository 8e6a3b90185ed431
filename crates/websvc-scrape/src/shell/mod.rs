//! Shell pages: their content is made by scripts, which takes a browser.
//!
//! The decision is made for each page, from the evidence in its own source: elements that frameworks render into and
//! that are empty, grey shapes in the place of content, containers that a script of the page fills, what the page says
//! about JavaScript. Nothing is remembered of its host. A page without such evidence is not rendered, however short it
//! is; words of navigation and footers are no content, however many there are.

mod element;
mod names;
mod scan;
mod script;

use crate::raw::RawPage;
use scan::{Evidence, scan};

/// A page with more words of content than this is a shell only if it says so itself.
const CONTENT_WORDS: usize = 60;

/// With no more words of content than this, weaker evidence is enough.
const TITLE_WORDS: usize = 20;

/// A page with no more words of content than this has none.
const BARE_WORDS: usize = 3;

/// So many grey shapes stand for a list or an article.
const SKELETONS: usize = 3;

/// How much of a body is looked at.
const LOOKED_AT: usize = 512 * 1024;

/// Evidence that the content of a page is made by scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShellSign {
    /// A script of the page fills an element that is empty in the source.
    FilledByScript,
    /// An element says that its content is still to come.
    Pending,
    /// The markup is a template that scripts fill in.
    Template,
    /// Grey shapes stand in the place of content.
    Skeletons,
    /// The element that a framework renders into has no content.
    EmptyRoot,
    /// The element around the content has none.
    EmptyMain,
    /// The page says that it does nothing without scripts.
    AsksForScripts,
    /// Next to nothing but a container, or a sign of loading, and a script.
    EmptyContainer,
    /// Nothing but chrome, and an application or its data.
    NoContent,
}

/// Returns whether the page has to be rendered by a browser before it has content. The source is scanned once per page.
pub(crate) fn is_shell(page: &RawPage) -> bool {
    let scan = || shell_sign(&page.body[..page.body.len().min(LOOKED_AT)]).is_some();
    page.status.is_success() && page.is_html() && !page.body.is_empty() && *page.is_shell.get_or_init(scan)
}

/// Returns the strongest evidence that the source of a page is a shell; `None` when the page is to be read as it is.
fn shell_sign(source: &[u8]) -> Option<ShellSign> {
    let found = scan(source);
    if found.words > scan::PLENTY || !found.scripts.runs {
        return None;
    }
    if found.scripts.fills_container {
        return Some(ShellSign::FilledByScript);
    }
    if found.is_pending {
        return Some(ShellSign::Pending);
    }
    if found.is_template {
        return Some(ShellSign::Template);
    }
    if found.skeletons >= SKELETONS {
        return Some(ShellSign::Skeletons);
    }
    (found.words <= CONTENT_WORDS).then(|| sign_of_short(&found)).flatten()
}

/// Returns the evidence that a page with few words is a shell.
fn sign_of_short(found: &Evidence) -> Option<ShellSign> {
    if found.empty_root && !found.filled_root {
        return Some(ShellSign::EmptyRoot);
    }
    if found.empty_main {
        return Some(ShellSign::EmptyMain);
    }
    let has_form = found.fields > 0;
    if found.asks_for_scripts && !has_form && !found.has_prose && !found.filled_root {
        return Some(ShellSign::AsksForScripts);
    }
    let is_title_only = found.words <= TITLE_WORDS && !has_form && !found.has_prose;
    let waits = found.spinners > 0 && found.scripts.bundle;
    if is_title_only && (found.empty_container || waits) {
        return Some(ShellSign::EmptyContainer);
    }
    let is_bare = found.words <= BARE_WORDS && !has_form && found.media == 0;
    (is_bare && (found.scripts.bundle || found.scripts.state || found.empty_custom || found.words == 0))
        .then_some(ShellSign::NoContent)
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use http::header::CONTENT_TYPE;

    use super::*;

    fn page(kind: &'static str, body: &str) -> RawPage {
        let mut page = RawPage::empty("http://a.test/", StatusCode::OK);
        page.headers.insert(CONTENT_TYPE, kind.parse().unwrap());
        page.body = body.to_owned().into();
        page
    }

    fn check(body: &str, expected: bool) {
        assert_eq!(is_shell(&page("text/html", body)), expected, "{body}");
    }

    /// Returns the names of the fixtures of a kind, sorted, with what is decided about them.
    fn decided(kind: &str) -> Vec<(String, Option<ShellSign>)> {
        let directory = format!("{}/tests/fixtures/shell/{kind}", env!("CARGO_MANIFEST_DIR"));
        let mut decided: Vec<_> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                (name, shell_sign(&std::fs::read(path).unwrap()))
            })
            .collect();
        decided.sort_by(|a, b| a.0.cmp(&b.0));
        decided
    }

    /// The figures are those of docs/benchmarks.md. The misses stay until there is evidence for them.
    #[test]
    fn shell_decision_on_fixture_pages_has_known_precision_and_recall() {
        let (served, applications) = (decided("served"), decided("application"));
        let wasted: Vec<_> = served.iter().filter(|(_, sign)| sign.is_some()).collect();
        let missed: Vec<_> = applications.iter().filter(|(_, sign)| sign.is_none()).collect();
        let wasted: Vec<&str> = wasted.iter().map(|(name, _)| name.as_str()).collect();
        let missed: Vec<&str> = missed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((served.len(), applications.len()), (35, 41), "{served:?} {applications:?}");
        assert_eq!(wasted, ["theme-with-spinner"], "{served:?}");
        assert_eq!(missed, ["plain-div-external", "prose-around-external"], "{applications:?}");
    }

    #[test]
    fn applications_that_draw_themselves_are_shells() {
        for body in [
            "<div id=\"root\"></div><script src=a.js></script>",
            "<div id=app><div class=spinner>Loading, please wait</div></div><script>go()</script>",
            "<app-root></app-root><script type=module src=a.js></script><h1>Shop</h1>",
            "<p>Our shop is loading</p><script src=a.js></script><noscript>Please enable JavaScript!</noscript>",
            "<noscript><strong>We're sorry but this app doesn't work properly without JavaScript</strong></noscript>
             <main></main><script src=a.js></script>",
            "<title>A title</title><script src=a.js></script>",
        ] {
            check(body, true);
        }
    }

    #[test]
    fn pages_with_content_or_without_scripts_are_none() {
        let long = "word ".repeat(80);
        for body in [
            &format!("<div id=root>{long}</div><script src=a.js></script>"),
            &format!("<noscript>enable JavaScript</noscript><p>{long}</p><script src=a.js></script>"),
            "<div id=root></div>",
            "<h1>It works!</h1><p>A short page of a few words.</p><script src=count.js></script>",
            "<h1>It works!</h1><p>A short page.</p><script src=a.js></script><noscript><img src=count.gif></noscript>",
            "",
        ] {
            check(body, false);
        }
    }

    #[test]
    fn what_is_no_page_or_no_success_is_none() {
        let body = "<div id=root></div><script src=a.js></script>";
        assert!(!is_shell(&page("text/plain", body)));
        let failed = RawPage { status: StatusCode::NOT_FOUND, ..page("text/html", body) };
        assert!(!is_shell(&failed));
    }
}
