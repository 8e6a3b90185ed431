//! Adds content that only a page's JSON-LD has: products and articles that scripts would show.

use crate::content_view::ContentView;
use crate::dom::{self, Dom, NodeId};
use crate::structured;
use crate::text::collapsed;
use serde_json::Value;

/// A page that shows this number of letters does not wait for a script.
const COMPLETE_LETTERS: usize = 1_200;

/// A JSON-LD text with fewer letters than this is not content.
const MIN_LETTERS: usize = 60;

/// Adds the content of a page's JSON-LD that its markup does not show, as a `<main>` at its end.
///
/// Returns the new page and that element, or `None` if the page shows enough by itself.
pub(crate) fn add_json_ld_content(dom: &Dom, html: &str) -> Option<(Dom, NodeId)> {
    if !html.contains("ld+json") || !(html.contains("Product") || html.contains("articleBody")) {
        return None;
    }
    let view = ContentView::visible(dom);
    if view.letters(dom, COMPLETE_LETTERS) >= COMPLETE_LETTERS {
        return None;
    }
    let blocks = structured::blocks(dom);
    let markup = blocks.values.iter().flat_map(structured::objects).find_map(markup)?;
    let visible_letters = letters_of(&view.text(dom, NodeId::ROOT));
    let content = dom::parse(&markup);
    let letters = letters_of(&ContentView::visible(&content).text(&content, NodeId::ROOT));
    let tail: String = letters.chars().rev().take(MIN_LETTERS).collect();
    let tail: String = tail.chars().rev().collect();
    if letters.len() < MIN_LETTERS || visible_letters.contains(&tail) {
        return None;
    }
    let page = dom::parse(&format!("{html}<main id={MAIN_ID}>{markup}</main>"));
    let main =
        page.descendants(NodeId::ROOT).filter(|&id| page.attribute(id, "id") == Some(MAIN_ID)).last()?;
    Some((page, main))
}

/// The ID of the element that is added.
const MAIN_ID: &str = "stated-in-json-ld";

/// Writes a product or an article as HTML. Descriptions are often HTML themselves.
fn markup(object: &serde_json::Map<String, Value>) -> Option<String> {
    let field =
        |name: &str| object.get(name).and_then(Value::as_str).map(str::trim).filter(|v| !v.is_empty());
    let is = |wanted: &str| match object.get("@type") {
        Some(Value::String(kind)) => kind == wanted,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        _ => false,
    };
    let body = if is("Product") || is("ProductGroup") { field("description") } else { field("articleBody") }?;
    let mut out = String::new();
    if let Some(name) = field("name").or_else(|| field("headline")) {
        out += &format!("<h1>{}</h1>", escaped(name));
    }
    for (label, value) in [("Brand", name_of(object.get("brand"))), ("Price", price(object.get("offers")))] {
        if let Some(value) = value {
            out += &format!("<p>{label}: {}</p>", escaped(&value));
        }
    }
    if body.contains("</") || body.contains("&lt;") {
        out += &format!("<div>{body}</div>");
    } else {
        for paragraph in body.split('\n') {
            out += &format!("<p>{}</p>", escaped(paragraph));
        }
    }
    Some(out)
}

fn name_of(value: Option<&Value>) -> Option<String> {
    let value = value?;
    value.as_str().or_else(|| value.get("name")?.as_str()).map(collapsed).filter(|name| !name.is_empty())
}

/// Returns the first price of an offer with its currency.
fn price(offers: Option<&Value>) -> Option<String> {
    let offer = match offers? {
        Value::Array(offers) => offers.first()?,
        offer => offer,
    };
    let amount = match offer.get("price").or_else(|| offer.get("lowPrice"))? {
        Value::String(amount) => collapsed(amount),
        Value::Number(amount) => amount.to_string(),
        _ => return None,
    };
    let currency = offer.get("priceCurrency").and_then(Value::as_str).unwrap_or_default();
    Some(format!("{amount} {currency}").trim().to_owned())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn letters_of(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
