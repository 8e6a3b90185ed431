//! Tests of the public interface.

#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]

use std::fs;
use std::sync::Arc;

use websvc_scrape::blocklist::{Blocker, Blocklist, BlocklistError, LIST_MAX_BYTES, ResourceKind};

const PAGE: &str = "https://news.example.com/story";

fn bundled() -> Arc<Blocker> {
    Blocklist::bundled().load().unwrap()
}

/// Returns the bundled list and one with these lines.
fn with_list(lines: &str) -> Arc<Blocker> {
    let directory = tempfile::tempdir().unwrap();
    let lists = Blocklist::with_lists(directory.path(), ["https://lists.example.com/a.txt"]);
    lists.files()[0].replace(lines.as_bytes()).unwrap();
    lists.load().unwrap()
}

#[track_caller]
fn check(blocker: &Blocker, url: &str, kind: ResourceKind, expected: bool) {
    assert_eq!(blocker.blocks(url, PAGE, kind), expected, "{url} {kind:?}");
}

#[test]
fn third_party_advertising_is_blocked_for_every_kind() {
    let blocker = bundled();
    for kind in [ResourceKind::Script, ResourceKind::Frame, ResourceKind::Image, ResourceKind::Fetch] {
        check(&blocker, "https://securepubads.g.doubleclick.net/tag/js/gpt.js", kind, true);
        check(&blocker, "https://pagead2.googlesyndication.com/pagead/js/adsbygoogle.js", kind, true);
    }
    check(&blocker, "wss://rtb.adnxs.com/socket", ResourceKind::WebSocket, true);
    check(&blocker, "https://cdn.cookielaw.org/scripttemplates/otSDKStub.js", ResourceKind::Script, true);
}

#[test]
fn content_is_not_blocked() {
    let blocker = bundled();
    for url in [
        "https://news.example.com/app.js",
        "https://cdn.example.net/react.js",
        "https://cdn.jsdelivr.net/npm/vue",
        "https://fonts.gstatic.com/s/roboto.woff2",
        "https://www.youtube.com/embed/x",
        "https://static.theguardian.com/a.js",
        "https://i.ebayimg.com/a.jpg",
        "https://notdoubleclick.net/x.js",
        "https://doubleclick.net.example.org/x.js",
        "data:text/javascript,1",
        "blob:https://news.example.com/1",
        "",
        "no url",
    ] {
        check(&blocker, url, ResourceKind::Script, false);
    }
}

#[test]
fn page_itself_and_first_party_requests_are_not_blocked() {
    let blocker = bundled();
    check(&blocker, "https://www.doubleclick.net/", ResourceKind::Document, false);
    assert!(!blocker.blocks(
        "https://static.taboola.com/app.js",
        "https://www.taboola.com/careers",
        ResourceKind::Script
    ));
}

#[test]
fn cookie_banners_are_hidden_on_all_sites() {
    let css = bundled().hide_css(PAGE);
    assert!(
        css.contains("\n#onetrust-banner-sdk:not(:has(main,article,h1)){display:none!important}"),
        "{css}"
    );
    assert!(
        css.contains("\n#CybotCookiebotDialog:not(:has(main,article,h1)){display:none!important}"),
        "{css}"
    );
    assert_eq!(css, bundled().hide_css("about:blank"));
}

#[test]
fn list_adds_filters_exceptions_and_hidden_elements() {
    let blocker = with_list(
        "[Adblock Plus 2.0]\n! Title: test\n||ads.example.net^\n/banner/*/img^$image\n@@||doubleclick.net/ok.js\n\
         example.com##.promo\n##.advert-box\n###top-ad\nexample.com#@#.advert-box\n##+js(nothing)\n",
    );
    check(&blocker, "https://ads.example.net/a.js", ResourceKind::Script, true);
    check(&blocker, "https://img.example.net/banner/7/img?x", ResourceKind::Image, true);
    check(&blocker, "https://img.example.net/banner/7/img?x", ResourceKind::Script, false);
    check(&blocker, "https://doubleclick.net/ok.js", ResourceKind::Script, false);
    check(&blocker, "https://doubleclick.net/other.js", ResourceKind::Script, true);
    assert!(blocker.hide_css(PAGE).contains("\n.promo{"));
    assert!(!blocker.hide_css("https://other.test/").contains(".promo"));
    let (classes, ids) = (["advert-box".to_owned(), "story".to_owned()], ["top-ad".to_owned()]);
    let both = "\n#top-ad{display:none!important}\n.advert-box{display:none!important}";
    assert_eq!(blocker.generic_hide_css("https://other.test/", &classes, &ids), both);
    let excepted = "\n#top-ad{display:none!important}";
    assert_eq!(blocker.generic_hide_css(PAGE, &classes, &ids), excepted);
}

#[test]
fn hosts_file_is_accepted_as_a_list() {
    let blocker = with_list("# comment\n127.0.0.1 localhost\n0.0.0.0 tracker.example.net\n");
    check(&blocker, "https://tracker.example.net/p.gif", ResourceKind::Image, true);
    check(&blocker, "https://example.net/p.gif", ResourceKind::Image, false);
}

#[test]
fn replace_with_invalid_content_is_an_error_and_keeps_the_list() {
    let directory = tempfile::tempdir().unwrap();
    let lists = Blocklist::with_lists(directory.path().join("lists"), ["https://lists.example.com/a.txt"]);
    let file = &lists.files()[0];
    assert_eq!(file.read().unwrap(), None);
    let written = file.replace(b"||ads.example.net^\n").unwrap();
    assert_eq!((written.filters, written.bytes), (1, 19));
    for content in [&b"<!doctype html><title>404</title>"[..], b"", b"! nothing\n", b"\xff\xfe"] {
        let error = file.replace(content).unwrap_err();
        assert!(matches!(error, BlocklistError::Invalid { .. }), "{error}");
    }
    let large = vec![b'a'; LIST_MAX_BYTES as usize + 1];
    assert!(matches!(file.replace(&large).unwrap_err(), BlocklistError::TooLarge { .. }));
    assert_eq!(file.read().unwrap().as_deref(), Some("||ads.example.net^\n"));
    assert_eq!(fs::read_dir(directory.path().join("lists")).unwrap().count(), 1);
}

#[test]
fn file_names_stay_in_the_directory_and_are_unique() {
    let directory = tempfile::tempdir().unwrap();
    let urls = [
        "https://a.test/../../etc/passwd",
        "https://a.test/x?y=1",
        "https://a.test/x?y-1",
        "https://a.test/é",
        "https://a.test/\u{0}",
    ];
    let lists = Blocklist::with_lists(directory.path(), urls);
    let mut paths: Vec<_> = lists.files().iter().map(|file| file.path().to_owned()).collect();
    assert!(paths.iter().all(|path| path.parent() == Some(directory.path())), "{paths:?}");
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), urls.len());
}

#[test]
fn load_shares_the_blocker_and_reloads_after_the_last_user() {
    let directory = tempfile::tempdir().unwrap();
    let lists = Blocklist::with_lists(directory.path(), ["https://lists.example.com/a.txt"]);
    let first = lists.load().unwrap();
    assert!(Arc::ptr_eq(&first, &lists.load().unwrap()));
    lists.files()[0].replace(b"||ads.example.net^\n").unwrap();
    check(&lists.load().unwrap(), "https://ads.example.net/", ResourceKind::Image, false);
    drop(first);
    check(&lists.load().unwrap(), "https://ads.example.net/", ResourceKind::Image, true);
}

#[test]
fn blocker_is_usable_from_many_threads() {
    fn assert_shareable<T: Send + Sync>(_: &T) {}
    let blocker = bundled();
    assert_shareable(&*blocker);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..200 {
                    check(&blocker, &format!("https://x{n}.adnxs.com/{n}"), ResourceKind::Script, true);
                }
            });
        }
    });
}
