//! What SearXNG answers: every field may be missing, null or of another kind, engine by engine.

use jiff::Timestamp;
use serde_json::Value;
use url::Url;
use websvc_validate::SourceKind;

use crate::source::plain_text::{plain, shortened};
use crate::source::{Hit, HitImage, date};

/// Reads one result; `None` when it has no usable address.
pub(super) fn hit(kind: SourceKind, result: &Value, now: Timestamp) -> Option<Hit> {
    let text = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    let image = match kind {
        SourceKind::Web => None,
        SourceKind::Images => Some(image(result, address(text("img_src"))?)),
        SourceKind::News => ["thumbnail", "img_src", "thumbnail_src"]
            .iter()
            .find_map(|name| address(text(name)))
            .map(|url| HitImage { url, width: None, height: None }),
    };
    let url = address(text("url")).or_else(|| image.as_ref().map(|image| image.url.clone()))?;
    let date = ["publishedDate", "pubdate", "metadata"]
        .iter()
        .find_map(|name| date::of_value(result.get(name)?, now));
    Some(Hit { url, title: plain(text("title")), description: plain(text("content")), date, image })
}

/// Returns an absolute web address; one without scheme (`//host/x`) is read as https.
fn address(text: &str) -> Option<String> {
    let text = if text.starts_with("//") { format!("https:{text}") } else { text.to_owned() };
    let url = Url::parse(&text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(text)
}

fn image(result: &Value, url: String) -> HitImage {
    let size = result.get("resolution").and_then(Value::as_str).and_then(size);
    let (width, height) = size.unzip();
    HitImage { url, width, height }
}

/// Finds a size in a text such as `1920 x 1080`, `1920×1080px` or `photo · 1,920 X 1,080 · svg`.
fn size(text: &str) -> Option<(u32, u32)> {
    let text = text.replace(',', "");
    text.match_indices(['x', 'X', '×', '*']).find_map(|(at, sign)| {
        let before = text[..at].trim_end();
        let after = text[at + sign.len()..].trim_start();
        let digits = |text: &str| text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let width = &before[before.len() - digits(before)..];
        let height = &after[..after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
        Some((width.parse().ok()?, height.parse().ok()?)).filter(|size| *size != (0, 0))
    })
}

/// Returns the engines that did not answer with their reasons, as `google (timeout)`.
pub(super) fn silent_engines(value: &Value) -> Vec<String> {
    let engines = value.get("unresponsive_engines").and_then(Value::as_array);
    let named = engines.into_iter().flatten().filter_map(|engine| match engine {
        Value::String(name) => Some(shortened(name, 60)),
        Value::Array(parts) => {
            let part = |at: usize| parts.get(at).and_then(Value::as_str).map(|text| shortened(text, 60));
            Some(part(1).map_or_else(|| part(0), |why| Some(format!("{} ({why})", part(0)?)))?)
        }
        _ => None,
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2024-05-10T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn sizes_are_found_in_free_text() {
        for (text, expected) in [
            ("1920 x 1080", Some((1920, 1080))),
            ("1920x1080", Some((1920, 1080))),
            ("1024×768", Some((1024, 768))),
            ("1024 × 768 px", Some((1024, 768))),
            ("photo · 1,920 X 1,080 · svg", Some((1920, 1080))),
            ("extra large", None),
            ("99999999999x1", None),
            ("", None),
        ] {
            assert_eq!(size(text), expected, "{text}");
        }
    }

    #[test]
    fn a_result_of_any_shape_is_read_as_far_as_it_goes() {
        let full = json!({
            "url": "https://a.test/", "title": "A <b>title</b>", "content": "Some\ntext", "engine": "x",
            "publishedDate": "2024-05-01T08:30:00", "thumbnail": "//i.test/t.png", "score": 1.5
        });
        let read = hit(SourceKind::News, &full, now()).unwrap();
        assert_eq!((read.title.as_str(), read.description.as_str()), ("A title", "Some text"));
        assert_eq!(read.date, "2024-05-01T08:30:00Z".parse().ok());
        assert_eq!(read.image.unwrap().url, "https://i.test/t.png");
        let bare =
            hit(SourceKind::Web, &json!({"url": "https://a.test/", "content": null, "title": 5}), now());
        assert_eq!(bare.unwrap(), Hit { url: "https://a.test/".to_owned(), ..Hit::default() });
        let in_words =
            json!({"url": "https://a.test/", "publishedDate": null, "metadata": "Times | 2 days ago"});
        let read = hit(SourceKind::News, &in_words, now()).unwrap();
        assert_eq!(read.date, "2024-05-08T12:00:00Z".parse().ok());
        for bad in [json!({}), json!({"url": "javascript:x"}), json!({"url": ""}), json!("text"), json!(null)]
        {
            assert_eq!(hit(SourceKind::Web, &bad, now()), None, "{bad}");
        }
        assert_eq!(hit(SourceKind::Images, &json!({"url": "https://a.test/"}), now()), None, "no picture");
    }

    #[test]
    fn silent_engines_are_named_with_their_reason() {
        let value = json!({"unresponsive_engines": [["google", "timeout"], ["bing"], "brave", 5, []]});
        assert_eq!(silent_engines(&value), ["google (timeout)", "bing", "brave"]);
        assert!(silent_engines(&json!({})).is_empty());
    }
}
