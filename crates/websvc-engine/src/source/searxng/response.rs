//! Parses the responses of SearXNG, in which every field may be missing, null or of another type.

use jiff::Timestamp;
use serde_json::Value;
use url::Url;
use websvc_validate::SourceKind;

use crate::source::plain_text::{plain, truncate};
use crate::source::{Hit, HitImage, date};

/// Parses one result; `None` if it has no usable URL.
pub(super) fn hit(kind: SourceKind, result: &Value, now: Timestamp) -> Option<Hit> {
    let text = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    let image = match kind {
        SourceKind::Web => None,
        SourceKind::Images => Some(image(result, web_url(text("img_src"))?)),
        SourceKind::News => ["thumbnail", "img_src", "thumbnail_src"]
            .iter()
            .find_map(|name| web_url(text(name)))
            .map(|url| HitImage { url, width: None, height: None }),
    };
    let url = web_url(text("url")).or_else(|| image.as_ref().map(|image| image.url.clone()))?;
    let date = ["publishedDate", "pubdate", "metadata"]
        .iter()
        .find_map(|name| date::of_value(result.get(name)?, now));
    Some(Hit { url, title: plain(text("title")), description: plain(text("content")), date, image })
}

/// Returns an absolute web URL. One without scheme (`//host/x`) is treated as https.
fn web_url(text: &str) -> Option<String> {
    let text = if text.starts_with("//") { format!("https:{text}") } else { text.to_owned() };
    let url = Url::parse(&text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(text)
}

fn image(result: &Value, url: String) -> HitImage {
    let size = result.get("resolution").and_then(Value::as_str).and_then(size);
    let (width, height) = size.unzip();
    HitImage { url, width, height }
}

/// Finds an image size in a text such as `1920 x 1080`, `1920×1080px` or `photo · 1,920 X 1,080 · svg`.
fn size(text: &str) -> Option<(u32, u32)> {
    let text = text.replace(',', "");
    text.match_indices(['x', 'X', '×', '*']).find_map(|(position, separator)| {
        let before = text[..position].trim_end();
        let after = text[position + separator.len()..].trim_start();
        let digits = |text: &str| text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let width = &before[before.len() - digits(before)..];
        let height = &after[..after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
        Some((width.parse().ok()?, height.parse().ok()?)).filter(|size| *size != (0, 0))
    })
}

/// Returns the engines without response and their reasons, as `google (timeout)`.
pub(super) fn unresponsive_engines(value: &Value) -> Vec<String> {
    let engines = value.get("unresponsive_engines").and_then(Value::as_array);
    let names = engines.into_iter().flatten().filter_map(|engine| match engine {
        Value::String(name) => Some(truncate(name, 60)),
        Value::Array(parts) => {
            let part = |index: usize| parts.get(index).and_then(Value::as_str).map(|text| truncate(text, 60));
            Some(part(1).map_or_else(|| part(0), |reason| Some(format!("{} ({reason})", part(0)?)))?)
        }
        _ => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2024-05-10T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn image_sizes_are_found_in_free_text() {
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
    fn results_with_missing_or_invalid_fields_are_read_as_far_as_possible() {
        let full = json!({
            "url": "https://a.test/", "title": "A <b>title</b>", "content": "Some\ntext", "engine": "x",
            "publishedDate": "2024-05-01T08:30:00", "thumbnail": "//i.test/t.png", "score": 1.5
        });
        let parsed = hit(SourceKind::News, &full, now()).unwrap();
        assert_eq!((parsed.title.as_str(), parsed.description.as_str()), ("A title", "Some text"));
        assert_eq!(parsed.date, "2024-05-01T08:30:00Z".parse().ok());
        assert_eq!(parsed.image.unwrap().url, "https://i.test/t.png");
        let bare =
            hit(SourceKind::Web, &json!({"url": "https://a.test/", "content": null, "title": 5}), now());
        assert_eq!(bare.unwrap(), Hit { url: "https://a.test/".to_owned(), ..Hit::default() });
        let in_words =
            json!({"url": "https://a.test/", "publishedDate": null, "metadata": "Times | 2 days ago"});
        let parsed = hit(SourceKind::News, &in_words, now()).unwrap();
        assert_eq!(parsed.date, "2024-05-08T12:00:00Z".parse().ok());
        for bad in [json!({}), json!({"url": "javascript:x"}), json!({"url": ""}), json!("text"), json!(null)]
        {
            assert_eq!(hit(SourceKind::Web, &bad, now()), None, "{bad}");
        }
        assert_eq!(hit(SourceKind::Images, &json!({"url": "https://a.test/"}), now()), None, "no image");
    }

    #[test]
    fn unresponsive_engines_are_named_with_their_reason() {
        let value = json!({"unresponsive_engines": [["google", "timeout"], ["bing"], "brave", 5, []]});
        assert_eq!(unresponsive_engines(&value), ["google (timeout)", "bing", "brave"]);
        assert!(unresponsive_engines(&json!({})).is_empty());
    }
}
