//! Properties of every URL.

use proptest::prelude::*;
use url::Url;
use websvc_site::{PageIdentity, strip_tracking_params};

/// Generates addresses that consist of the pieces with rules, mostly well-formed ones.
fn address() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("/"),
        Just("//"),
        Just("/index.html"),
        Just("/index.php"),
        Just(";jsessionid=1"),
        Just("%"),
        Just("%2"),
        Just("%41"),
        Just("%7E"),
        Just("%2F"),
        Just("%25"),
        Just("%3F"),
        Just("%E4"),
        Just("ä"),
        Just("."),
        Just(".."),
        Just("?"),
        Just("&"),
        Just("="),
        Just("utm_x=1"),
        Just("sid=0123456789abcdef0123"),
        Just("#"),
        Just("!"),
        Just("a"),
        Just("B"),
        Just("1"),
        Just("~"),
        Just("+"),
        Just("@"),
        Just(":"),
    ];
    let hosts = prop_oneof![
        Just("a.test"),
        Just("www.a.test"),
        Just("www.www.a.test"),
        Just("www.test"),
        Just("a.test.:80"),
        Just("a.test:8443"),
        Just("www..a"),
        Just("[::1]"),
        Just("127.0.0.1"),
    ];
    (prop_oneof![Just("http"), Just("https"), Just("ftp")], hosts, prop::collection::vec(pieces, 0..12))
        .prop_map(|(scheme, host, pieces)| format!("{scheme}://{host}/{}", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_accepts_every_text_without_panic(text in "\\PC*") {
        let identity = PageIdentity::from_address(&text);
        prop_assert!(identity.as_str().starts_with(identity.host()));
    }

    #[test]
    fn identity_of_an_identity_is_equal(address in address()) {
        let identity = PageIdentity::from_address(&address);
        if !identity.host().is_empty() {
            let again = PageIdentity::from_address(&format!("https://{identity}"));
            prop_assert_eq!(again, identity);
        }
    }

    #[test]
    fn strip_tracking_params_is_idempotent(address in address()) {
        if let Ok(url) = Url::parse(&address) {
            let once = strip_tracking_params(url);
            prop_assert_eq!(strip_tracking_params(once.clone()), once);
        }
    }

    #[test]
    fn url_without_tracking_params_has_the_same_identity(address in address()) {
        if let Ok(url) = Url::parse(&address)
            && url.scheme() != "ftp"
            && !url.fragment().unwrap_or_default().starts_with('!')
        {
            prop_assert_eq!(PageIdentity::of_url(&strip_tracking_params(url.clone())), PageIdentity::of_url(&url));
        }
    }

    /// Host, port, segments and parameters are simple words, so that any difference means another page.
    #[test]
    fn different_pages_have_different_identities(
        one in plain_parts(), other in plain_parts(),
    ) {
        prop_assert_eq!(one == other, PageIdentity::from_address(&address_of(&one)) == PageIdentity::from_address(&address_of(&other)));
    }
}

/// Host, port, path segments and parameters of an address.
type Parts = (u8, Option<u16>, Vec<u8>, Vec<(u8, u8)>);

fn plain_parts() -> impl Strategy<Value = Parts> {
    let small = 0..3_u8;
    let port = prop::option::of(8000..8002_u16);
    (
        small.clone(),
        port,
        prop::collection::vec(small.clone(), 0..3),
        prop::collection::vec((small.clone(), small), 0..3),
    )
}

fn address_of((host, port, segments, parameters): &Parts) -> String {
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    let path: String = segments.iter().map(|segment| format!("/s{segment}")).collect();
    let query: Vec<String> = parameters.iter().map(|(name, value)| format!("p{name}={value}")).collect();
    format!("http://h{host}.test{port}{path}?{}", query.join("&"))
}
