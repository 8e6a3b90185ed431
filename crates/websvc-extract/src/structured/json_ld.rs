//! Parses the JSON-LD blocks of a page, leniently and within limits.

use crate::dom::{Dom, Tag};
use crate::limits::MAX_JSON_LD_BYTES;
use serde_json::Value;

/// Maximum number of JSON objects of a page that are read.
const MAX_OBJECTS: usize = 2_000;

/// The JSON-LD blocks of a page.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// The parsed blocks.
    pub(crate) values: Vec<Value>,
    /// The size of their texts.
    pub(crate) bytes: usize,
}

/// Parses the JSON-LD blocks of a page within the limits. Blocks that are not JSON are skipped.
pub(crate) fn blocks(dom: &Dom) -> Blocks {
    let mut blocks = Blocks::default();
    for id in dom.elements(Tag::Script).filter(|&id| dom.is_script_of(id, "application/ld+json")) {
        let source = dom.own_text(id);
        let bytes = blocks.bytes + source.len();
        if bytes > MAX_JSON_LD_BYTES {
            break;
        }
        blocks.bytes = bytes;
        blocks.values.extend(parse(&source));
    }
    blocks
}

/// Parses a block. Common mistakes are fixed: comments around it, raw line breaks in strings, trailing commas, quotes
/// as entities, several objects in sequence. The text after another mistake is ignored.
fn parse(source: &str) -> Vec<Value> {
    let source = source.trim().trim_start_matches("<!--").trim_end_matches("-->").trim();
    let source = source.trim_start_matches("//<![CDATA[").trim_start_matches("/*<![CDATA[*/").trim();
    let source = source.trim_end_matches("//]]>").trim_end_matches("/*]]>*/").trim().trim_end_matches(';');
    let parse_all = |source: &str| -> Option<Vec<Value>> {
        serde_json::Deserializer::from_str(source).into_iter().collect::<Result<_, _>>().ok()
    };
    parse_all(source).unwrap_or_else(|| {
        let repaired = repair(source);
        serde_json::Deserializer::from_str(&repaired).into_iter().map_while(Result::ok).collect()
    })
}

/// Fixes mistakes that can be found without parsing the JSON.
fn repair(source: &str) -> String {
    let source = if source.contains('"') { source.to_owned() } else { source.replace("&quot;", "\"") };
    let mut out = String::with_capacity(source.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in source.chars() {
        match c {
            c if c.is_control() => {
                out.push(' ');
                continue;
            }
            '"' if !escaped => in_string = !in_string,
            '}' | ']' if !in_string => {
                let end = out.trim_end();
                if end.ends_with(',') {
                    out.truncate(end.len() - 1);
                }
            }
            _ => {}
        }
        escaped = in_string && c == '\\' && !escaped;
        out.push(c);
    }
    out
}

/// Iterates over the objects of a block breadth first, so that the outermost one counts.
pub(crate) fn objects(value: &Value) -> impl Iterator<Item = &serde_json::Map<String, Value>> {
    let mut queue = std::collections::VecDeque::from([value]);
    let mut visited = 0;
    std::iter::from_fn(move || {
        loop {
            let value = queue.pop_front()?;
            visited += 1;
            if visited > MAX_OBJECTS {
                return None;
            }
            match value {
                Value::Array(items) => queue.extend(items),
                Value::Object(object) => {
                    let inner = ["@graph", "mainEntity", "mainEntityOfPage"];
                    queue.extend(inner.iter().filter_map(|key| object.get(*key)));
                    return Some(object);
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    })
}
