//! The positions of the fields of a result in the JSON of an API.

use std::fmt;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use url::Url;
use websvc_validate::SourceKind;

use crate::source::plain_text::{plain, truncate};
use crate::source::{Hit, HitImage, SourceRequest, date};

/// The maximum length of a description. Longer ones are truncated.
const MAX_DESCRIPTION: usize = 500;

/// The characters that are escaped in a value that becomes part of a URL. Slashes are not.
const ESCAPED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'&').add(b'+').add(b'<').add(b'>').add(b'?');

/// The position of a field: a JSON Pointer (RFC 6901) such as `/title`, a template with pointers in braces such as
/// `https://a.test/{/id}`, in which `{language}` is the language of the request to the API, or a list of these, of which the first that has a value is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field(Vec<Vec<Part>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Pointer(String),
    Language,
}

/// The positions of the fields of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fields {
    /// The URL of the page.
    pub url: Field,
    /// The title of the page.
    pub title: Field,
    /// The description or the beginning of the text.
    pub description: Field,
    /// The date of publication or of the last change.
    pub date: Field,
    /// The URL of an image.
    pub image: Field,
    /// The width of the image in pixels.
    pub image_width: Field,
    /// The height of the image in pixels.
    pub image_height: Field,
    /// The rank of the result, the best lowest, if the list is not in the order of ranks.
    pub rank: Field,
}

impl Fields {
    /// The names of the configuration keys.
    pub const KEYS: &'static [&'static str] =
        &["url", "title", "description", "date", "image", "image_width", "image_height", "rank"];

    /// Reads a result of a request in a language; `None` if it has no usable URL.
    pub(super) fn hit(&self, request: &SourceRequest<'_>, language: &str, result: &Value) -> Option<Hit> {
        let url = web_url(&self.url.text(result, language, Escape::Url)?)?;
        let text = |field: &Field| field.text(result, language, Escape::None).unwrap_or_default();
        let image = match request.kind {
            SourceKind::Web => None,
            SourceKind::News => self.image(result, language),
            SourceKind::Images => Some(self.image(result, language)?),
        };
        Some(Hit {
            url,
            title: plain(&text(&self.title)),
            description: truncate(&text(&self.description), MAX_DESCRIPTION),
            date: self.date.values(result).find_map(|value| date::of_value(value, request.now)),
            image,
        })
    }

    /// Sorts the results by rank, if it is configured. Those without a rank come last.
    pub(super) fn sort_by_rank(&self, results: &mut [Value]) {
        if !self.rank.is_empty() {
            let rank = |result: &Value| self.rank.values(result).find_map(Value::as_i64).unwrap_or(i64::MAX);
            results.sort_by_key(rank);
        }
    }

    fn image(&self, result: &Value, language: &str) -> Option<HitImage> {
        let url = web_url(&self.image.text(result, language, Escape::Url)?)?;
        let pixels =
            |field: &Field| field.text(result, language, Escape::None)?.parse().ok().filter(|size| *size > 0);
        Some(HitImage { url, width: pixels(&self.image_width), height: pixels(&self.image_height) })
    }
}

#[derive(Debug, Clone, Copy)]
enum Escape {
    Url,
    None,
}

impl Field {
    /// Returns whether no position is configured.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text of the first alternative that has a value.
    fn text(&self, result: &Value, language: &str, escape: Escape) -> Option<String> {
        self.0.iter().find_map(|parts| {
            if let [Part::Pointer(pointer)] = &parts[..] {
                return text_at(result, pointer);
            }
            let mut text = String::new();
            for part in parts {
                match (part, escape) {
                    (Part::Text(fixed), _) => text.push_str(fixed),
                    (Part::Language, _) => text.push_str(language),
                    (Part::Pointer(pointer), Escape::None) => text.push_str(&text_at(result, pointer)?),
                    (Part::Pointer(pointer), Escape::Url) => {
                        text.extend(utf8_percent_encode(&text_at(result, pointer)?, ESCAPED));
                    }
                }
            }
            Some(text)
        })
    }

    /// Returns the values that the pointers refer to.
    fn values<'a>(&'a self, result: &'a Value) -> impl Iterator<Item = &'a Value> {
        self.0.iter().flatten().filter_map(|part| match part {
            Part::Pointer(pointer) => result.pointer(pointer),
            Part::Text(_) | Part::Language => None,
        })
    }

    fn parse(texts: &[String]) -> Result<Self, String> {
        texts.iter().map(|text| parts(text)).collect::<Result<_, _>>().map(Self)
    }
}

fn text_at(result: &Value, pointer: &str) -> Option<String> {
    match result.pointer(pointer)? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns an absolute web URL. One without scheme (`//host/x`) is treated as https.
fn web_url(text: &str) -> Option<String> {
    let text = if text.starts_with("//") { format!("https:{text}") } else { text.to_owned() };
    let url = Url::parse(&text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(text)
}

fn parts(text: &str) -> Result<Vec<Part>, String> {
    if text.starts_with('/') {
        return Ok(vec![Part::Pointer(text.to_owned())]);
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (pointer, after) =
            after.split_once('}').ok_or_else(|| format!("{text:?} has an unmatched brace"))?;
        parts.extend((!before.is_empty()).then(|| Part::Text(before.to_owned())));
        parts.push(match pointer {
            "language" => Part::Language,
            _ if pointer.starts_with('/') => Part::Pointer(pointer.to_owned()),
            _ => {
                return Err(format!(
                    "{{{pointer}}} in {text:?} is not a JSON Pointer, which begins with a slash"
                ));
            }
        });
        rest = after;
    }
    if !parts.iter().any(|part| matches!(part, Part::Pointer(_))) {
        return Err(format!(
            "{text:?} is not a JSON Pointer, which begins with a slash, and has none in braces"
        ));
    }
    parts.extend((!rest.is_empty()).then(|| Part::Text(rest.to_owned())));
    Ok(parts)
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;

        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON Pointer, a text with pointers in braces, or a list of these")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Field, E> {
                Field::parse(&[text.to_owned()]).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Field, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element::<String>()? {
                    texts.push(text);
                }
                Field::parse(&texts).map_err(A::Error::custom)
            }
        }

        deserializer.deserialize_any(OneOrMany)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(value: Value) -> Result<Field, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn pointers_templates_and_alternatives_are_read() {
        let result = json!({"id": 7, "key": "Green tea/ü?", "names": ["A"], "none": null, "empty": " "});
        let check = |position: Value, expected: Option<&str>| {
            let text = field(position).unwrap().text(&result, "de", Escape::Url);
            assert_eq!(text.as_deref(), expected);
        };
        check(json!("/names/0"), Some("A"));
        check(json!("/id"), Some("7"));
        check(json!("https://a.test/{/key}?id={/id}"), Some("https://a.test/Green%20tea/%C3%BC%3F?id=7"));
        check(json!("https://{language}.a.test/{/id}"), Some("https://de.a.test/7"));
        check(json!("https://a.test/{/none}"), None);
        check(json!(["/none", "/empty", "/id"]), Some("7"));
        check(json!("/names"), None);
        assert_eq!(Field::default().text(&result, "de", Escape::None), None);
    }

    #[test]
    fn positions_without_a_pointer_are_rejected() {
        for bad in
            [json!("title"), json!("{title}"), json!("x {/a"), json!("x {language}"), json!([5]), json!("")]
        {
            assert!(field(bad.clone()).is_err(), "{bad}");
        }
        assert!(field(json!("title")).unwrap_err().contains("\"title\" is not a JSON Pointer"));
    }

    #[test]
    fn every_key_sets_a_field() {
        for key in Fields::KEYS {
            let fields: Fields = serde_json::from_value(json!({*key: "/x"})).unwrap();
            assert_ne!(fields, Fields::default(), "{key}");
        }
    }
}
