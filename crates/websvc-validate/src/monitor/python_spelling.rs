//! Spelling of options by the official Python client.
//!
//! The client converts the options of scrapes and crawls to the names of the interface, but not those inside the targets
//! of a monitor: it sends `only_main_content` and the format `change_tracking` there. As unknown names, they would be
//! ignored.

use std::borrow::Cow;

use crate::shape::BodyValue;

/// Names whose conversion does not follow the rule.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("deduplicate_similar_urls", "deduplicateSimilarURLs"),
    ("redact_pii", "redactPII"),
    ("regex_on_full_url", "regexOnFullURL"),
];

/// Objects whose keys are not names of the interface.
const FREE_OBJECTS: &[&str] = &["headers", "schema"];

/// Converts the names in `scrapeOptions` and `crawlOptions` of all targets of a body.
pub(crate) fn convert(body: &mut BodyValue<'_>) {
    let Some(BodyValue::List(targets)) = value_mut(body, "targets") else { return };
    for target in targets {
        for options in ["scrapeOptions", "crawlOptions"] {
            if let Some(options) = value_mut(target, options) {
                convert_names(options);
                convert_formats(options);
            }
        }
    }
}

fn convert_names(value: &mut BodyValue<'_>) {
    match value {
        BodyValue::Object(fields) => {
            for (key, value) in fields {
                if let Some(name) = camel_case(key) {
                    *key = Cow::Owned(name);
                }
                if !FREE_OBJECTS.contains(&key.as_ref()) {
                    convert_names(value);
                }
            }
        }
        BodyValue::List(items) => items.iter_mut().for_each(convert_names),
        BodyValue::Null
        | BodyValue::Bool(_)
        | BodyValue::Unsigned(_)
        | BodyValue::Signed(_)
        | BodyValue::Float(_)
        | BodyValue::Text(_) => {}
    }
}

fn convert_formats(options: &mut BodyValue<'_>) {
    let Some(BodyValue::List(formats)) = value_mut(options, "formats") else { return };
    for format in formats {
        let name = if format.is_object() { value_mut(format, "type") } else { Some(format) };
        if let Some(BodyValue::Text(name)) = name
            && let Some(converted) = camel_case(name)
        {
            *name = Cow::Owned(converted);
        }
    }
}

/// Returns a name in camel case, or `None` if it has no word after an underscore. Names that begin with an underscore
/// are private to the clients.
fn camel_case(name: &str) -> Option<String> {
    if let Some((_, exception)) = EXCEPTIONS.iter().find(|(snake, _)| *snake == name) {
        return Some((*exception).to_owned());
    }
    let mut words = name.split('_');
    let first = words.next().filter(|word| !word.is_empty())?;
    let mut converted = first.to_owned();
    for word in words {
        let mut chars = word.chars();
        converted.push(chars.next()?.to_ascii_uppercase());
        converted.push_str(chars.as_str());
    }
    (converted != name).then_some(converted)
}

fn value_mut<'v, 'a>(object: &'v mut BodyValue<'a>, name: &str) -> Option<&'v mut BodyValue<'a>> {
    let BodyValue::Object(fields) = object else { return None };
    fields.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value)
}
