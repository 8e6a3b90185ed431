//! Content codings: complete, invalid, nested, and as bombs.

use std::time::{Duration, Instant};

use websvc_testkit::{Coding, Page, TestWeb};
use websvc_transport::{FetchError, FetchRequest, FetchResponse};

use crate::support::{client_of, get};

const ALL: [Coding; 5] = [Coding::Gzip, Coding::Deflate, Coding::RawDeflate, Coding::Brotli, Coding::Zstd];

async fn fetch(page: Page) -> Result<FetchResponse, FetchError> {
    let world = TestWeb::builder().page("http://a.test/", page).start().await;
    client_of(&world).fetch(get("http://a.test/")).await
}

fn text() -> String {
    (0..20_000)
        .map(|i| format!("line {i} of a page that is not too regular: {}\n", i * 7919 % 1013))
        .collect()
}

#[tokio::test]
async fn each_coding_is_decoded() {
    let text = text();
    for coding in ALL {
        let fetched = fetch(Page::html(text.clone()).encoded(coding)).await.unwrap();
        assert_eq!(fetched.body, text, "{coding:?}");
        assert!(fetched.wire_bytes < text.len() as u64 / 2, "{coding:?}");
        assert!(!fetched.truncated && fetched.warnings.is_empty(), "{coding:?}: {:?}", fetched.warnings);
    }
}

#[tokio::test]
async fn each_coding_is_decoded_byte_by_byte() {
    for coding in ALL {
        let page = Page::html("short but not empty").encoded(coding).slow(1, Duration::ZERO);
        assert_eq!(fetch(page).await.unwrap().body, "short but not empty", "{coding:?}");
    }
}

#[tokio::test]
async fn nested_codings_are_decoded_in_reverse_order() {
    let fetched = fetch(Page::html("twice").encoded(Coding::Brotli).encoded(Coding::Gzip)).await.unwrap();
    assert_eq!(fetched.body, "twice");
}

#[tokio::test]
async fn four_codings_are_rejected() {
    let page = (0..4).fold(Page::html("deep"), |page, _| page.encoded(Coding::Gzip));
    assert!(matches!(fetch(page).await.unwrap_err(), FetchError::Decode { .. }));
}

#[tokio::test]
async fn unknown_coding_is_not_decoded_and_warns() {
    let fetched = fetch(Page::html("as it is").header("content-encoding", "exotic")).await.unwrap();
    assert_eq!(fetched.body, "as it is");
    assert_eq!(fetched.warnings.len(), 1);
}

#[tokio::test]
async fn empty_body_is_valid_in_each_coding() {
    for coding in ["gzip", "br", "zstd", "deflate"] {
        let fetched = fetch(Page::html("").header("content-encoding", coding)).await.unwrap();
        assert!(fetched.body.is_empty() && !fetched.truncated, "{coding}");
    }
}

#[tokio::test]
async fn concatenated_gzip_members_and_zstd_frames_are_decoded() {
    for (coding, name) in [(Coding::Gzip, "gzip"), (Coding::Zstd, "zstd")] {
        let bytes = [coding.encode(b"one "), coding.encode(b"two")].concat();
        let fetched = fetch(Page::new("text/plain", bytes).header("content-encoding", name)).await.unwrap();
        assert_eq!(fetched.body, "one two", "{name}");
    }
}

#[tokio::test]
async fn garbage_after_the_end_is_ignored() {
    for (coding, name) in [(Coding::Gzip, "gzip"), (Coding::Deflate, "deflate"), (Coding::Brotli, "br")] {
        let bytes = [coding.encode(b"the page"), b"garbage".to_vec()].concat();
        let fetched = fetch(Page::new("text/plain", bytes).header("content-encoding", name)).await.unwrap();
        assert_eq!(fetched.body, "the page", "{name}");
    }
}

#[tokio::test]
async fn invalid_coded_data_is_an_error() {
    for (coding, name) in [(Coding::Gzip, "gzip"), (Coding::Brotli, "br"), (Coding::Zstd, "zstd")] {
        let mut bytes = coding.encode(text().as_bytes());
        bytes[..600].reverse();
        let page = Page::new("text/plain", bytes).header("content-encoding", name);
        assert!(matches!(fetch(page).await, Err(FetchError::Decode { .. })), "{name}");
    }
}

#[tokio::test]
async fn missing_end_of_coding_returns_the_received_part() {
    let text = text();
    for (coding, name) in [(Coding::Gzip, "gzip"), (Coding::Brotli, "br"), (Coding::Zstd, "zstd")] {
        let mut bytes = coding.encode(text.as_bytes());
        bytes.truncate(bytes.len() - 20);
        let fetched = fetch(Page::new("text/plain", bytes).header("content-encoding", name)).await.unwrap();
        assert!(fetched.truncated, "{name}");
        assert_eq!(fetched.warnings, ["the end of the compressed body is missing"]);
        assert!(text.as_bytes().starts_with(&fetched.body), "{name}");
    }
}

#[tokio::test]
async fn decompression_bomb_stops_at_the_decoded_limit() {
    let zeros = vec![0; 10 * 1024 * 1024];
    for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd] {
        let page = Page::new("text/html", zeros.clone()).encoded(coding);
        let world = TestWeb::builder().page("http://a.test/", page).start().await;
        let request = FetchRequest { max_decoded_bytes: 1024 * 1024, ..get("http://a.test/") };
        let started = Instant::now();
        let error = client_of(&world).fetch(request).await.unwrap_err();
        assert!(matches!(error, FetchError::TooLarge { limit: 1_048_576 }), "{coding:?}: {error:?}");
        assert!(started.elapsed() < Duration::from_secs(2), "{coding:?}");
    }
}

#[tokio::test]
async fn decompression_bomb_below_the_limit_stops_at_the_ratio() {
    let zeros = vec![0; 12 * 1024 * 1024];
    for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd] {
        let error = fetch(Page::new("text/html", zeros.clone()).encoded(coding)).await.unwrap_err();
        assert!(matches!(error, FetchError::Decode { .. }), "{coding:?}: {error:?}");
    }
}

#[tokio::test]
async fn nested_decompression_bomb_is_stopped() {
    let inner = Coding::Gzip.encode(&vec![0; 24 * 1024 * 1024]);
    let page = Page::new("text/html", Coding::Gzip.encode(&inner)).header("content-encoding", "gzip, gzip");
    let started = Instant::now();
    assert!(fetch(page).await.is_err());
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn zstd_window_above_the_standard_is_rejected() {
    // A frame header with a window of 128 MiB (RFC 8878, section 3.1.1.1.2) and one raw, last block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x09, 0x00, 0x00, b'x'];
    let page = Page::new("text/plain", frame.to_vec()).header("content-encoding", "zstd");
    assert!(matches!(fetch(page).await, Err(FetchError::Decode { .. })));
}
