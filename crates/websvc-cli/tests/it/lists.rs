//! Lists of advertising, as their operator fetches them.

use serde_json::Value;
use websvc_testkit::{Page, TestWeb};

use crate::harness::Site;

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_fetched_and_shown() {
    let world = TestWeb::builder()
        .page("http://lists.test/a.txt", Page::text("! Title: a\n||ads.example.net^\n##.advert\n"))
        .page("http://lists.test/page", Page::html("<title>no list</title>"))
        .start()
        .await;
    let site = Site::new(&world);
    let run = |urls: &str, arguments: &[&str]| {
        site.command(arguments).env("WEBSVC__BROWSER__LISTS", urls).output().unwrap()
    };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (one, both) =
        (r#"["http://lists.test/a.txt"]"#, r#"["http://lists.test/page", "http://lists.test/a.txt"]"#);

    let shown = run(one, &["lists", "show"]);
    assert!(text(&shown.stdout).contains("a.txt: not fetched"), "{shown:?}");
    let updated = run(one, &["lists", "update"]);
    assert!(updated.status.success(), "{updated:?}");
    assert_eq!(text(&updated.stdout), "http://lists.test/a.txt: 2 filters, 40 B\n");
    let shown: Value = serde_json::from_slice(&run(one, &["lists", "show", "--json"]).stdout).unwrap();
    assert_eq!((&shown[0]["bytes"], &shown[0]["url"]), (&40.into(), &"http://lists.test/a.txt".into()));

    // One that cannot be had does not keep the others back, and is an error all the same.
    let updated = run(both, &["lists", "update"]);
    assert!(!updated.status.success(), "{updated:?}");
    assert!(text(&updated.stdout).contains("a.txt: 2 filters"), "{updated:?}");
    assert!(text(&updated.stderr).contains("not a filter list: it is an HTML page"), "{updated:?}");

    let none = run("[]", &["lists", "update"]);
    assert!(text(&none.stderr).contains("browser.lists"), "{none:?}");
    let wrong = run(r#"["file:///etc/passwd"]"#, &["lists", "update"]);
    assert!(!wrong.status.success() && text(&wrong.stderr).contains("scheme"), "{wrong:?}");
}
