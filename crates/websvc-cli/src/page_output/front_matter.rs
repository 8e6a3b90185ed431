//! The YAML front matter of a Markdown file.

use std::fmt::Write as _;

use serde_json::Value;

/// Returns the fields that have a value as YAML, between two lines of `---`.
pub(crate) fn front_matter(fields: &[(&str, Option<Value>)]) -> String {
    let mut text = "---\n".to_owned();
    for (name, value) in fields {
        if let Some(value) = value {
            let _infallible = writeln!(text, "{name}: {}", quoted(value));
        }
    }
    text.push_str("---\n");
    text
}

/// Returns a value as JSON that is also valid YAML. Characters that YAML does not allow are escaped.
pub(crate) fn quoted(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _infallible = write!(text, "\\u{:04x}", u32::from(c));
            }
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use yaml_rust2::{Yaml, YamlLoader};

    use super::*;

    #[test]
    fn front_matter_is_valid_yaml() {
        for text in [
            "plain",
            "Tea: \"green\"\n---\n# no comment",
            "yes",
            "2026-01-01",
            "- a",
            "tab\t and \\ and 'quotes' and \u{0} \u{1b} \u{7f} \u{85} \u{2028} \u{feff} end",
            "日本語 🍵 {a: b} [c] & *d !e | > %f @g `h",
            "",
            " spaces ",
        ] {
            let matter = front_matter(&[
                ("title", Some(json!(text))),
                ("none", None),
                ("statusCode", Some(json!(200))),
            ]);
            let inner = matter.strip_prefix("---\n").unwrap().strip_suffix("---\n").unwrap();
            assert_eq!(inner.lines().count(), 2, "{inner:?}");
            let read = YamlLoader::load_from_str(inner).unwrap();
            assert_eq!(read[0]["title"], Yaml::String(text.to_owned()), "{inner:?}");
            assert_eq!(read[0]["statusCode"], Yaml::Integer(200));
            assert!(read[0]["none"].is_badvalue());
        }
    }
}
