//! Tests that keys and passwords do not appear in debug output and errors.

use std::error::Error;

use websvc_testkit::Page;

use crate::support::{KEY, base, builder, client, error_response, service};

fn check(text: &str) {
    for secret in [KEY, "sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ"] {
        assert!(!text.contains(secret), "{text} contains {secret}");
    }
}

/// Returns the debug and display output of an error and its sources.
fn printed(error: &dyn Error) -> String {
    let mut text = format!("{error:?} {error:#?}");
    let mut cause = Some(error);
    while let Some(error) = cause {
        text.push_str(&format!(" {error}"));
        cause = error.source();
    }
    text
}

#[test]
fn debug_output_has_no_keys_and_passwords() {
    let builder = builder("http://a.test").proxy("http://Aladdin:open%20sesame@p.test".parse().unwrap());
    check(&format!("{builder:?} {builder:#?}"));
    let client = builder.build().unwrap();
    check(&format!("{client:?} {client:#?}"));
    let search = client.search("q");
    check(&format!("{search:?} {search:#?}"));
}

#[tokio::test]
async fn errors_have_no_keys_and_passwords() {
    let world = service(vec![error_response(401)]).await;
    check(&printed(&client(&world).search("q").send().await.unwrap_err()));
    let world = service(vec![Page::text("?")]).await;
    check(&printed(&client(&world).search("q").send().await.unwrap_err()));
    let address = base(&world).replace("http://", "http://Aladdin:open%20sesame@");
    // The test web is not a proxy, so it rejects the tunnel.
    let client = builder("https://a.test").proxy(address.parse().unwrap()).build().unwrap();
    check(&printed(&client.search("q").send().await.unwrap_err()));
    let error = builder(&address).build().unwrap_err();
    check(&printed(&error));
    let error = builder("http://a.test").key(format!("{KEY}\n")).build().unwrap_err();
    check(&printed(&error));
}
