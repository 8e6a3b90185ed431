//! Tests of the lists through the public interface.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use std::fs;
use std::sync::Arc;

use websvc_blocklist::{Blocker, Blocklist, BlocklistError, LIST_MAX_BYTES, ResourceKind};

const PAGE: &str = "https://news.example.com/story";

fn bundled() -> Arc<Blocker> {
    Blocklist::bundled().load().unwrap()
}

/// Returns the bundled lists and one with these lines.
fn with(lines: &str) -> Arc<Blocker> {
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
fn advertising_of_others_is_blocked_whatever_it_is() {
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
fn the_page_itself_and_what_is_of_its_own_host_are_not_blocked() {
    let blocker = bundled();
    check(&blocker, "https://www.doubleclick.net/", ResourceKind::Document, false);
    assert!(!blocker.blocks(
        "https://static.taboola.com/app.js",
        "https://www.taboola.com/careers",
        ResourceKind::Script
    ));
}

#[test]
fn questions_about_cookies_are_hidden_everywhere() {
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
fn a_list_adds_filters_exceptions_and_what_is_hidden() {
    let blocker = with(
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
    let hidden = "\n#top-ad{display:none!important}\n.advert-box{display:none!important}";
    assert_eq!(blocker.hide_more_css("https://other.test/", &classes, &ids), hidden);
    let excepted = "\n#top-ad{display:none!important}";
    assert_eq!(blocker.hide_more_css(PAGE, &classes, &ids), excepted);
}

#[test]
fn a_hosts_file_is_a_list_too() {
    let blocker = with("# comment\n127.0.0.1 localhost\n0.0.0.0 tracker.example.net\n");
    check(&blocker, "https://tracker.example.net/p.gif", ResourceKind::Image, true);
    check(&blocker, "https://example.net/p.gif", ResourceKind::Image, false);
}

#[test]
fn what_is_no_list_is_refused_and_the_older_one_stays() {
    let directory = tempfile::tempdir().unwrap();
    let lists = Blocklist::with_lists(directory.path().join("lists"), ["https://lists.example.com/a.txt"]);
    let file = &lists.files()[0];
    assert_eq!(file.read().unwrap(), None);
    let written = file.replace(b"||ads.example.net^\n").unwrap();
    assert_eq!((written.filters, written.bytes), (1, 19));
    for content in [&b"<!doctype html><title>404</title>"[..], b"", b"! nothing\n", b"\xff\xfe"] {
        let error = file.replace(content).unwrap_err();
        assert!(matches!(error, BlocklistError::NoList { .. }), "{error}");
    }
    let large = vec![b'a'; LIST_MAX_BYTES as usize + 1];
    assert!(matches!(file.replace(&large).unwrap_err(), BlocklistError::TooLarge { .. }));
    assert_eq!(file.read().unwrap().as_deref(), Some("||ads.example.net^\n"));
    assert_eq!(fs::read_dir(directory.path().join("lists")).unwrap().count(), 1);
}

#[test]
fn names_of_files_stay_in_the_directory_and_differ() {
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
fn those_who_want_it_at_one_time_share_it_and_later_ones_see_newer_lists() {
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
fn it_can_be_asked_by_many_threads() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    let blocker = bundled();
    is_shared(&*blocker);
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
