//! Reads the values of the fields of a form, and the text that annotations add to a page.

use hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as PdfString};
use hayro_syntax::page::Page;

use super::strings;

/// The maximum number of annotations of a page that are read.
const MAX_ANNOTATIONS: usize = 2000;
/// The maximum number of fields above a field whose properties it inherits.
const MAX_PARENTS: usize = 16;
/// The maximum length of a value in characters.
const MAX_VALUE: usize = 20_000;
/// The maximum number of options of a list that are examined, and of selected ones.
const MAX_OPTIONS: usize = 2000;
/// Flags of annotations: hidden, and not shown on the screen.
const HIDDEN: i64 = 1 << 1 | 1 << 5;
/// Flags of fields.
const MULTILINE: i32 = 1 << 12;
const PASSWORD: i32 = 1 << 13;
const PUSH_BUTTON: i32 = 1 << 16;

/// The content of an annotation on the page.
pub(super) enum Appearance<'a> {
    /// A form that is drawn into a rectangle.
    Drawn(Stream<'a>),
    /// Text at the left edge of a rectangle.
    Text(String),
}

/// Returns the content of the fields and of the text annotations of a page, with their rectangles.
pub(super) fn appearances<'a>(page: &Page<'a>) -> Vec<(Appearance<'a>, [f64; 4])> {
    let Some(annotations) = page.raw().get::<Array<'a>>(b"Annots") else { return Vec::new() };
    let annotations = annotations.iter::<Dict<'a>>().take(MAX_ANNOTATIONS);
    let with_area = annotations.filter_map(|annotation| {
        let area = annotation.get::<[f64; 4]>(b"Rect")?;
        Some((appearance(&annotation)?, area))
    });
    with_area.collect()
}

fn appearance<'a>(annotation: &Dict<'a>) -> Option<Appearance<'a>> {
    if annotation.get::<i64>(b"F").unwrap_or(0) & HIDDEN != 0 {
        return None;
    }
    match annotation.get::<Name<'_>>(b"Subtype")?.as_str() {
        "FreeText" => normal_appearance(annotation).map(Appearance::Drawn),
        "Widget" => field(annotation),
        _ => None,
    }
}

/// Returns the value of a field as text. The drawn form of a value is only used where the value itself lacks the breaks of
/// lines, because it can be older than the value.
fn field<'a>(widget: &Dict<'a>) -> Option<Appearance<'a>> {
    let flags = inherited(widget, b"Ff").and_then(Object::into_i32).unwrap_or(0);
    match inherited(widget, b"FT")?.into_name()?.as_str() {
        "Tx" if flags & PASSWORD != 0 => None,
        "Tx" => {
            let value = inherited(widget, b"V").and_then(text)?;
            let drawn = (flags & MULTILINE != 0).then(|| normal_appearance(widget)).flatten();
            Some(drawn.map_or(Appearance::Text(value), Appearance::Drawn))
        }
        "Ch" => choice(widget).map(Appearance::Text),
        "Btn" if flags & PUSH_BUTTON == 0 => {
            let state = widget.get::<Name<'_>>(b"AS").or_else(|| inherited(widget, b"V")?.into_name());
            let is_on = state.is_some_and(|state| state.as_str() != "Off");
            Some(Appearance::Text(if is_on { "☑" } else { "☐" }.to_owned()))
        }
        _ => None,
    }
}

/// Returns a property of a field or of the fields above it.
fn inherited<'a>(widget: &Dict<'a>, key: &[u8]) -> Option<Object<'a>> {
    let mut field = widget.clone();
    for _ in 0..MAX_PARENTS {
        if let Some(value) = field.get::<Object<'a>>(key) {
            return Some(value);
        }
        field = field.get::<Dict<'a>>(b"Parent")?;
    }
    None
}

fn normal_appearance<'a>(annotation: &Dict<'a>) -> Option<Stream<'a>> {
    annotation.get::<Dict<'a>>(b"AP")?.get::<Stream<'a>>(b"N")
}

/// Returns the text of a string, or of a stream with a long text; `None` if it is empty.
fn text(value: Object<'_>) -> Option<String> {
    let text = match value {
        Object::String(text) => strings::decode_text(text.as_bytes()),
        Object::Stream(stream) => strings::decode_text(&stream.decoded_data().ok()?),
        _ => return None,
    };
    let text: String = text.chars().take(MAX_VALUE).collect();
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// Returns the shown texts of the selected options, separated by commas.
fn choice(widget: &Dict<'_>) -> Option<String> {
    let values: Vec<String> = match inherited(widget, b"V")? {
        Object::Array(values) => values.iter::<Object<'_>>().take(MAX_OPTIONS).filter_map(text).collect(),
        value => text(value).into_iter().collect(),
    };
    let options = inherited(widget, b"Opt").and_then(Object::into_array);
    let shown = |value: &String| {
        let options = options.as_ref()?.iter::<Object<'_>>().take(MAX_OPTIONS);
        let mut pairs = options.filter_map(Object::into_array);
        pairs.find_map(|pair| {
            let mut pair = pair.iter::<PdfString<'_>>().map(|text| strings::decode_text(text.as_bytes()));
            (pair.next()? == *value).then(|| pair.next())?
        })
    };
    let shown: Vec<String> =
        values.iter().map(|value| shown(value).unwrap_or_else(|| value.clone())).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}
