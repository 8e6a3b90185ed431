//! Keys and passwords stay out of what is printed.

use std::error::Error;

use websvc_testkit::Page;

use crate::support::{KEY, base, builder, client, refusal, service};

fn check(text: &str) {
    for secret in [KEY, "sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ"] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
}

/// Returns all that can be printed of an error.
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
fn keys_and_passwords_are_not_in_what_is_debugged() {
    let builder = builder("http://a.test").proxy("http://Aladdin:open%20sesame@p.test".parse().unwrap());
    check(&format!("{builder:?} {builder:#?}"));
    let client = builder.build().unwrap();
    check(&format!("{client:?} {client:#?}"));
    let search = client.search("q");
    check(&format!("{search:?} {search:#?}"));
}

#[tokio::test]
async fn keys_and_passwords_are_not_in_errors() {
    let world = service(vec![refusal(401)]).await;
    check(&printed(&client(&world).search("q").send().await.unwrap_err()));
    let world = service(vec![Page::text("?")]).await;
    check(&printed(&client(&world).search("q").send().await.unwrap_err()));
    let address = base(&world).replace("http://", "http://Aladdin:open%20sesame@");
    // The world is no proxy, so it refuses the tunnel.
    let client = builder("https://a.test").proxy(address.parse().unwrap()).build().unwrap();
    check(&printed(&client.search("q").send().await.unwrap_err()));
    let error = builder(&address).build().unwrap_err();
    check(&printed(&error));
    let error = builder("http://a.test").key(format!("{KEY}\n")).build().unwrap_err();
    check(&printed(&error));
}
