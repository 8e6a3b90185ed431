//! Detection of shell pages, whose content scripts create in a browser.
//!
//! The decision is made for each page from the evidence in its own source: empty elements that frameworks render into,
//! skeletons (grey shapes in place of content), containers that a script of the page fills, messages about JavaScript.
//! Other pages of the host do not matter. A page without such evidence is not rendered, however short it is. Words of
//! navigation and footers do not count as content, however many there are.

mod element;
mod names;
mod scan;
mod script;

use crate::raw::RawPage;
use element::Counts;
use scan::{Evidence, scan};

/// The maximum number of words of content of a shell page without strong evidence.
const MAX_SHELL_WORDS: usize = 60;

/// The maximum number of words of content for which an empty container or a spinner is enough evidence.
const MAX_TITLE_WORDS: usize = 20;

/// The maximum number of words of a page that counts as empty.
const MAX_BARE_WORDS: usize = 3;

/// The minimum number of skeletons that stand for a list or an article.
const MIN_SKELETONS: usize = 3;

/// The maximum number of bytes of a body that are scanned.
const MAX_SCAN_BYTES: usize = 512 * 1024;

/// Evidence that scripts create the content of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShellSign {
    /// A script of the page fills an element that is empty in the source.
    FilledByScript,
    /// An element declares that its content is not loaded yet.
    Pending,
    /// The markup is a template that scripts fill.
    Template,
    /// The page has skeletons in place of content.
    Skeletons,
    /// The element that a framework renders into is empty.
    EmptyRoot,
    /// The element for the main content is empty.
    EmptyMain,
    /// A message says that the page needs scripts.
    AsksForScripts,
    /// The page has little more than an empty container or a spinner, and a script.
    EmptyContainer,
    /// The page has only chrome, and an application or its data.
    NoContent,
}

/// Returns whether the page has to be rendered by a browser before it has content. The source is scanned once per page.
pub(crate) fn is_shell(page: &RawPage) -> bool {
    let scan = || shell_sign(&page.body[..page.body.len().min(MAX_SCAN_BYTES)]).is_some();
    page.status.is_success() && page.is_html() && !page.body.is_empty() && *page.is_shell.get_or_init(scan)
}

/// Returns the strongest evidence that the source is that of a shell page; `None` for a page with content.
fn shell_sign(source: &[u8]) -> Option<ShellSign> {
    let evidence = scan(source);
    if evidence.counts.words > scan::MAX_WORDS || !evidence.scripts.has_application {
        return None;
    }
    if evidence.scripts.fills_container {
        return Some(ShellSign::FilledByScript);
    }
    if evidence.is_pending {
        return Some(ShellSign::Pending);
    }
    if evidence.is_template {
        return Some(ShellSign::Template);
    }
    if evidence.skeletons >= MIN_SKELETONS {
        return Some(ShellSign::Skeletons);
    }
    (evidence.counts.words <= MAX_SHELL_WORDS).then(|| short_page_sign(&evidence)).flatten()
}

/// Returns the evidence that a page with few words is a shell page.
fn short_page_sign(evidence: &Evidence) -> Option<ShellSign> {
    if evidence.empty_root && !evidence.filled_root {
        return Some(ShellSign::EmptyRoot);
    }
    if evidence.empty_main {
        return Some(ShellSign::EmptyMain);
    }
    let Counts { words, fields, media, .. } = evidence.counts;
    let has_form = fields > 0;
    if evidence.asks_for_scripts && !has_form && !evidence.has_prose && !evidence.filled_root {
        return Some(ShellSign::AsksForScripts);
    }
    let is_title_only = words <= MAX_TITLE_WORDS && !has_form && !evidence.has_prose;
    let is_loading = evidence.spinners > 0 && evidence.scripts.has_bundle;
    if is_title_only && (evidence.empty_container || is_loading) {
        return Some(ShellSign::EmptyContainer);
    }
    let is_bare = words <= MAX_BARE_WORDS && !has_form && media == 0;
    let has_application = evidence.scripts.has_bundle || evidence.scripts.has_state || evidence.empty_custom;
    (is_bare && (has_application || words == 0)).then_some(ShellSign::NoContent)
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

    /// Returns the names of the fixtures of a kind, sorted, with their shell signs.
    fn fixture_signs(kind: &str) -> Vec<(String, Option<ShellSign>)> {
        let directory = format!("{}/tests/fixtures/shell/{kind}", env!("CARGO_MANIFEST_DIR"));
        let mut signs: Vec<_> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                (name, shell_sign(&std::fs::read(path).unwrap()))
            })
            .collect();
        signs.sort_by(|a, b| a.0.cmp(&b.0));
        signs
    }

    /// The numbers are those in docs/benchmarks.md. The sources of the missed pages have no evidence.
    #[test]
    fn shell_decision_on_fixture_pages_has_known_precision_and_recall() {
        let (served, applications) = (fixture_signs("served"), fixture_signs("application"));
        let false_positives: Vec<_> = served.iter().filter(|(_, sign)| sign.is_some()).collect();
        let missed: Vec<_> = applications.iter().filter(|(_, sign)| sign.is_none()).collect();
        let false_positives: Vec<&str> = false_positives.iter().map(|(name, _)| name.as_str()).collect();
        let missed: Vec<&str> = missed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((served.len(), applications.len()), (35, 41), "{served:?} {applications:?}");
        assert_eq!(false_positives, ["theme-with-spinner"], "{served:?}");
        assert_eq!(missed, ["plain-div-external", "prose-around-external"], "{applications:?}");
    }

    #[test]
    fn client_rendered_application_is_a_shell() {
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
    fn page_with_content_or_without_scripts_is_not_a_shell() {
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
    fn other_content_type_or_error_status_is_not_a_shell() {
        let body = "<div id=root></div><script src=a.js></script>";
        assert!(!is_shell(&page("text/plain", body)));
        let failed = RawPage { status: StatusCode::NOT_FOUND, ..page("text/html", body) };
        assert!(!is_shell(&failed));
    }
}
