//! Tests of the URLs that a run may open.

use super::*;

fn url(text: &str) -> Url {
    text.parse().unwrap()
}

#[track_caller]
fn check(destinations: &Destinations, text: &str, expected: Option<&str>) {
    let found = destinations.check(text);
    assert_eq!(found.as_ref().map(Url::as_str).ok(), expected, "{text}: {found:?}");
}

#[test]
fn strict_run_opens_only_its_urls() {
    let urls = [url("https://www.a.test/x?id=1"), url("http://b.test/")];
    let strict = Destinations::new(&urls, true, &["See http://c.test/ and a.test".to_owned()]);
    check(&strict, "http://a.test/x/?id=1", Some("http://a.test/x/?id=1"));
    check(&strict, "https://www.a.test/x?id=1#data", Some("https://www.a.test/x?id=1"));
    check(&strict, "http://b.test", Some("http://b.test/"));
    for outside in [
        "http://a.test/x",
        "http://a.test/x?id=2",
        "http://a.test/x?id=1&utm_source=data",
        "http://a.test/y?id=1",
        "http://a.test:8080/x?id=1",
        "http://sub.b.test/",
        "http://c.test/",
        "http://b.test.evil.test/",
        "http://b.test@evil.test/",
        "ftp://b.test/",
        "b.test",
    ] {
        check(&strict, outside, None);
    }
    strict.learn(&url("http://evil.test/"));
    check(&strict, "http://evil.test/", None);
    let boundary = strict.boundary().unwrap();
    for (text, is_inside) in [
        ("https://a.test/x?id=1&lang=en", true),
        ("http://www.a.test/x/", true),
        ("http://a.test/y", false),
        ("http://evil.test/x", false),
    ] {
        assert_eq!((boundary.page)(&url(text)), is_inside, "{text}");
    }
    assert!((boundary.host)("www.b.test") && !(boundary.host)("b.test.evil.test"));
}

#[test]
fn urls_of_pages_are_opened_as_they_are_written() {
    let run = Destinations::new(&[], false, &[]);
    run.learn(&url("http://evil.test/collect?d="));
    run.learn_all("See (https://docs.test/a.pdf), or \"http://docs.test/b#top\".");
    check(&run, "https://docs.test/a.pdf", Some("https://docs.test/a.pdf"));
    check(&run, "http://docs.test/b#top", Some("http://docs.test/b#top"));
    check(&run, "http://docs.test/b#stolen", Some("http://docs.test/b"));
    check(&run, "http://docs.test/", Some("http://docs.test/"));
    check(&run, "http://evil.test/collect?d=", Some("http://evil.test/collect?d="));
    for unknown in [
        "http://evil.test/collect?d=data",
        "http://evil.test/data",
        "http://evil.test/?data",
        "http://data.evil.test/",
        "http://data@evil.test/",
        "http://evil.test:81/",
        "https://docs.test/a.pdf?utm_source=data",
        "http://other.test/",
    ] {
        check(&run, unknown, None);
    }
    assert!(run.boundary().is_none());
}

#[test]
fn hosts_that_the_user_names_are_trusted() {
    let prompt = "Compare example.com, https://shop.test/x?y=1 and v1.2 of co.uk (see notes.txt).".to_owned();
    let run = Destinations::new(&[url("http://www.start.test/")], false, &[prompt]);
    for named in [
        "https://example.com/prices?page=2",
        "https://www.example.com/",
        "https://docs.example.com/a",
        "http://shop.test/any",
        "http://start.test/more#part",
    ] {
        check(&run, named, Some(named));
    }
    for other in
        ["http://example.com.evil.test/", "http://myexample.com/", "http://bbc.co.uk/", "http://evil.test/"]
    {
        check(&run, other, None);
    }
}

#[test]
fn other_ports_of_a_named_host_are_not_trusted() {
    let prompt =
        "Compare http://site.test:8080/x, docs.test:9000, 10.0.0.7:81: both, and example.com (a.test:b).";
    let run = Destinations::new(
        &[url("http://127.0.0.1:8911/x"), url("http://shop.test/")],
        false,
        &[prompt.to_owned()],
    );
    for named in [
        "http://127.0.0.1:8911/y?z=1",
        "https://127.0.0.1:8911/y",
        "http://shop.test/y",
        "https://shop.test/y",
        "https://www.shop.test/y",
        "https://api.shop.test/y",
        "http://shop.test:443/y",
        "http://site.test:8080/y",
        "http://api.site.test:8080/y",
        "http://docs.test:9000/y",
        "http://10.0.0.7:81/y",
        "https://example.com/y",
        "http://a.test/y",
    ] {
        check(&run, named, Some(named));
    }
    for other in [
        "http://127.0.0.1:8912/y",
        "http://127.0.0.1/y",
        "http://shop.test:81/y",
        "https://shop.test:8443/y",
        "http://www.shop.test:81/y",
        "http://api.shop.test:81/y",
        "http://site.test/y",
        "http://site.test:80800/y",
        "http://docs.test/y",
        "http://docs.test:9001/y",
        "http://10.0.0.7/y",
        "http://example.com:8080/y",
    ] {
        check(&run, other, None);
    }
    run.learn_all("The API is at http://127.0.0.1:8912/docs.");
    check(&run, "http://127.0.0.1:8912/docs", Some("http://127.0.0.1:8912/docs"));
    check(&run, "http://127.0.0.1:8912/", Some("http://127.0.0.1:8912/"));
    check(&run, "http://127.0.0.1:8912/docs?d=data", None);
}

#[test]
fn part_of_a_named_host_is_not_trusted() {
    let prompt =
        "Compare bücher.example, mu\u{308}ller.test, my_shop.test, 请看shop.example的价格 and _tea.test_.";
    let run = Destinations::new(&[], false, &[prompt.to_owned()]);
    for (named, found) in [
        ("http://bücher.example/x", "http://xn--bcher-kva.example/x"),
        ("http://müller.test/x", "http://xn--mller-kva.test/x"),
        ("http://my_shop.test/x", "http://my_shop.test/x"),
        ("http://shop.example/x", "http://shop.example/x"),
        ("http://tea.test/x", "http://tea.test/x"),
    ] {
        check(&run, named, Some(found));
    }
    for part in ["http://cher.example/x", "http://ller.test/x", "http://shop.test/x"] {
        check(&run, part, None);
    }
}

/// A change of a known URL that is opened changes nothing that the host of the page learns: only spellings of the same
/// page, and the root, are among the URLs that pass.
#[test]
fn no_change_of_a_known_url_is_opened() {
    let known = "http://evil.test/a/b?x=1";
    let run = Destinations::new(&[], false, &[]);
    run.learn(&url(known));
    let mut allowed = HashSet::new();
    for origin in ["http://", "https://", "http://www.", "https://www."] {
        for host in
            ["evil.test", "evil.test.", "evil.test:80", "evil.test:443", "evil.test.:80", "evil.test.:443"]
        {
            for path in ["/a/b?x=1", "/a/b/?x=1", "/"] {
                allowed.insert(url(&format!("{origin}{host}{path}")));
            }
        }
    }
    let parts = [
        "x", "0", "-", "/", ".", "?", "&", "=", "@", ":", ":80", ":81", "#", "#x", "%41", "\t", "\\", "ä",
        "www.",
    ];
    let mut opened = 0;
    for position in 0..=known.len() {
        for part in parts {
            for rest in [&known[position..], known.get(position + 1..).unwrap_or_default(), ""] {
                let changed = format!("{}{part}{rest}", &known[..position]);
                if let Ok(found) = run.check(&changed) {
                    opened += 1;
                    assert!(allowed.contains(&found), "{changed}: {found}");
                }
            }
        }
    }
    assert!(opened > 10, "{opened}");
}

#[test]
fn credentials_are_those_of_the_user() {
    let secured = url("http://user:pass@a.test/x");
    let texts = ["And http://user:pass@c.test/.".to_owned()];
    for is_strict in [true, false] {
        let run = Destinations::new(std::slice::from_ref(&secured), is_strict, &texts);
        check(&run, "http://a.test/x", Some("http://user:pass@a.test/x"));
        check(&run, "http://user:pass@a.test/x#part", Some("http://user:pass@a.test/x"));
        check(&run, "http://c.test/", (!is_strict).then_some("http://user:pass@c.test/"));
        for other in [
            "http://user:other@a.test/x",
            "http://data@a.test/x",
            "http://user:pass@a.test/y",
            "http://user@b.test/",
        ] {
            check(&run, other, None);
        }
        let page = url("http://a.test/x");
        assert_eq!(run.boundary().is_some_and(|boundary| (boundary.page)(&page)), is_strict);
    }
}

#[test]
fn urls_within_a_word_are_found_up_to_a_limit() {
    let found = |text: &str| urls_in(text).map(String::from).collect::<Vec<_>>();
    assert_eq!(
        found("(http://a.test/1),[https://b.test/2]."),
        ["http://a.test/1),[https://b.test/2", "https://b.test/2"]
    );
    assert_eq!(found("http://a.test/http httpx://b.test/ http://"), ["http://a.test/http"]);
    let longest = format!("http://a.test/{}", "x".repeat(URL_MAX_CHARS as usize - 14));
    assert_eq!(found(&format!("{longest}... {longest}x")), [longest]);
    let nested = "http://a.test/".repeat(30_000);
    let urls = found(&nested);
    assert_eq!(urls.len(), MAX_IN_WORD);
    assert!(urls.iter().all(|url| url.len() <= URL_MAX_CHARS as usize));
}

#[test]
fn known_urls_are_limited() {
    let run = Destinations::new(&[], false, &[]);
    for number in 0..MAX_KNOWN {
        run.learn(&url(&format!("http://h{number}.test/x")));
    }
    assert!(run.known.lock().len() <= MAX_KNOWN);
    check(&run, "http://h0.test/x", Some("http://h0.test/x"));
    check(&run, &format!("http://h{}.test/x", MAX_KNOWN - 1), None);
}
