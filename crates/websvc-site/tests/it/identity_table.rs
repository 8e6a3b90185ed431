//! Tables of addresses of the same page and of different pages.

use url::Url;
use websvc_site::{PageIdentity, strip_tracking_params};

#[test]
fn common_spellings_of_an_address_have_the_same_identity() {
    let table: &[(&str, &[&str])] = &[
        (
            "a.test",
            &["http://a.test", "https://a.test/", "https://www.a.test/index.html", "HTTPS://A.test.:443//"],
        ),
        (
            "a.test/docs",
            &[
                "https://a.test/docs",
                "http://www.a.test/docs/",
                "https://user@a.test/docs/index.htm#top",
                "http://a.test:443/docs/index.php/?&",
                "https://a.test/docs?utm_source=x&gclid=1&UTM_ID=2&_ga=3&yclid=4",
                "https://a.test/docs;jsessionid=0A1B",
                "https://a.test/docs?PHPSESSID=abc&sid=0123456789abcdef01234",
                "https://a.test/x/../docs",
                "https://a.test/%64ocs?=nothing",
            ],
        ),
        (
            "a.test/~b/%C3%A4?q=%2F",
            &["http://a.test/%7eb/ä?q=%2f", "https://a.test/~b/%c3%a4/?q=%2F&fbclid=1"],
        ),
        ("a.test/100%25", &["http://a.test/100%", "http://a.test/100%25"]),
        ("a.test/x?b=2&a=1", &["https://a.test/x?b=2&utm_id=1&a=1"]),
        ("a.test/forum#!topic/1", &["https://a.test/forum/#!topic/1"]),
        ("file:///srv/a.txt", &["file:///srv/a.txt#top"]),
        ("no address", &["no address"]),
    ];
    for (expected, addresses) in table {
        for address in *addresses {
            assert_eq!(PageIdentity::from_address(address).as_str(), *expected, "{address}");
        }
    }
}

#[test]
fn addresses_of_possibly_different_pages_have_different_identities() {
    let table = [
        ("https://a.test/x", "https://a.test/X"),
        ("https://a.test/x", "https://b.a.test/x"),
        ("https://a.test/x", "https://a.test:8443/x"),
        ("https://a.test/x", "https://a.test/x?page=2"),
        ("https://a.test/x?page=1", "https://a.test/x?page=2"),
        ("https://a.test/story?sid=24/05/01/123", "https://a.test/story?sid=24/05/01/124"),
        ("https://a.test/list?sid=7", "https://a.test/list?sid=8"),
        ("https://a.test/x?utm=1", "https://a.test/x"),
        ("https://a.test/x?a=1&b=2", "https://a.test/x?b=2&a=1"),
        ("https://a.test/x?q=a%26b", "https://a.test/x?q=a&b"),
        ("https://a.test/a%2Fb", "https://a.test/a/b"),
        ("https://a.test/forum#!topic/1", "https://a.test/forum#!topic/2"),
        ("https://www.test/", "https://test/"),
        ("https://a.test/myindex.html", "https://a.test/my"),
        ("file:///a/x", "https://a/x"),
    ];
    for (one, other) in table {
        assert_ne!(PageIdentity::from_address(one), PageIdentity::from_address(other), "{one} {other}");
    }
}

#[test]
fn host_has_no_www() {
    for (address, host) in
        [("https://www.a.test:8443/x", "a.test"), ("http://[::1]/x", "[::1]"), ("file:///x", ""), ("x", "")]
    {
        assert_eq!(PageIdentity::from_address(address).host(), host, "{address}");
    }
}

#[test]
fn strip_tracking_params_removes_only_session_ids_and_campaign_parameters() {
    let cases = [
        ("http://a.test/x?PHPSESSID=abc&id=7#top", "http://a.test/x?id=7"),
        ("http://a.test/x;jsessionid=0A1B?id=7", "http://a.test/x?id=7"),
        ("http://a.test/x?utm_source=m&utm_medium=n", "http://a.test/x"),
        ("http://a.test/x?ASPSESSIONIDQQ=abc", "http://a.test/x"),
        ("http://a.test/x?sid=5f2d8e1c9b7a4036e1d2", "http://a.test/x"),
        // Similar parameters stay, and a query without tracking parameters is not changed.
        ("http://a.test/x?side=left&b=%20+&&c", "http://a.test/x?side=left&b=%20+&&c"),
        ("http://a.test/x?sid=1234", "http://a.test/x?sid=1234"),
        ("http://a.test/x?", "http://a.test/x?"),
        // Nothing else changes, because the host may have another page there.
        ("http://www.a.test/x/index.html", "http://www.a.test/x/index.html"),
    ];
    for (url, expected) in cases {
        assert_eq!(strip_tracking_params(Url::parse(url).unwrap()).as_str(), expected);
    }
}
