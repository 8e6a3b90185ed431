//! Pages that are an empty shell as served: their content is drawn by scripts, which takes a browser.
//!
//! A page is a shell when it has next to no text, runs scripts, and has a mark of an application that draws itself: the
//! element that frameworks draw into, or a `noscript` that asks for JavaScript. A short page without such a mark is just
//! short.

use crate::raw::RawPage;
use crate::visible::{Piece, attribute, is_named, pieces, visible_words};

/// A page with more words than this has content, whatever else it is.
const SHELL_WORDS: usize = 60;

/// A page with scripts and no more words than this has no content, even without another mark.
const BARE_WORDS: usize = 2;

/// How much of a body is looked at.
const LOOKED_AT: usize = 512 * 1024;

/// The `id` of the element that frameworks and their templates draw into.
const ROOT_IDS: &[&str] = &[
    "app",
    "root",
    "__next",
    "__nuxt",
    "___gatsby",
    "q-app",
    "svelte",
    "main-app",
    "app-root",
    "react-root",
    "react-app",
    "vue-app",
    "ember-app",
    "application",
    "mount",
    "app-mount",
    "page-root",
    "flutter_app",
];

/// Elements of their own that applications draw into.
const ROOT_ELEMENTS: &[&str] = &["app-root", "my-app", "app-shell", "ion-app", "flt-glass-pane"];

/// What a `noscript` says to those who need not read further (in lower case).
const NEEDS_SCRIPT: &[&str] = &[
    "enable javascript",
    "javascript enabled",
    "enabled javascript",
    "javascript is required",
    "javascript required",
    "requires javascript",
    "need javascript",
    "needs javascript",
    "without javascript",
    "javascript to run",
    "javascript is disabled",
    "javascript is not enabled",
    "turn on javascript",
    "activate javascript",
    "javascript aktivieren",
    "activer javascript",
    "habilitar javascript",
    "habilite o javascript",
];

/// Returns whether the page has to be drawn by a browser before it has content.
pub(crate) fn is_shell(page: &RawPage) -> bool {
    if !page.status.is_success() || !page.is_html() || page.body.is_empty() {
        return false;
    }
    let source = &page.body[..page.body.len().min(LOOKED_AT)];
    let words = visible_words(source, SHELL_WORDS + 1);
    if words > SHELL_WORDS || !has_scripts(source) {
        return false;
    }
    words <= BARE_WORDS || has_root(source) || asks_for_scripts(source)
}

fn has_scripts(source: &[u8]) -> bool {
    pieces(source).any(|piece| matches!(piece, Piece::Tag(tag) if is_named(tag, "script")))
}

fn has_root(source: &[u8]) -> bool {
    pieces(source).any(|piece| match piece {
        Piece::Tag(tag) => {
            ROOT_ELEMENTS.iter().any(|name| is_named(tag, name))
                || attribute(tag, "id").is_some_and(is_root_id)
                || attribute(tag, "ng-version").is_some()
        }
        Piece::Text(_) => false,
    })
}

fn is_root_id(id: &[u8]) -> bool {
    ROOT_IDS.iter().any(|root| id.eq_ignore_ascii_case(root.as_bytes()))
}

/// Returns whether a `noscript` asks for JavaScript. What the others say is of no concern: many hold a counter's image.
fn asks_for_scripts(source: &[u8]) -> bool {
    let source = String::from_utf8_lossy(source).to_ascii_lowercase();
    let told = source.split("<noscript").skip(1).map(|rest| rest.split("</noscript").next().unwrap_or(rest));
    told.take(16).any(|text| NEEDS_SCRIPT.iter().any(|words| text.contains(words)))
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
