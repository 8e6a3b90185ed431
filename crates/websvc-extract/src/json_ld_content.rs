//! Adds content that only a page's JSON-LD has: articles, products, jobs, recipes and answers that scripts would show.
//!
//! A text of which the page shows a good part is not added.

use crate::content_view::ContentView;
use crate::dom::{self, Dom, NodeId, Tag};
use crate::structured;
use crate::text::{collapsed, is_missing, letters_of};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// A JSON-LD text with fewer letters than this is not content.
const MIN_LETTERS: usize = 30;

/// A page with fewer letters than this shows nothing without its scripts.
const MAX_SHELL_LETTERS: usize = 400;

/// Limits of the state that is read.
const MAX_STATES: usize = 20;
const MAX_STATE_BYTES: usize = 2 << 20;
const MAX_STATE_DEPTH: usize = 60;

/// Minimum size of a text of the state, its minimum number of spaces, and the minimum size of all texts.
const MIN_TEXT_BYTES: usize = 120;
const MIN_TEXT_SPACES: usize = 10;
const MIN_STATE_BYTES: usize = 500;

/// Fields of the state that have content, the whole text first. Descriptions and messages are mostly those of the interface.
const TEXT_FIELDS: [&str; 7] = ["articleBody", "bodyHtml", "body", "html", "content", "cooked", "text"];

/// Maximum number of objects of the page whose content is added.
const MAX_OBJECTS: usize = 40;

/// Maximum size of the markup of what is added.
const MAX_MARKUP_BYTES: usize = 1 << 20;

/// Names of which the JSON-LD of a page with such content has one.
const NAMES: [&str; 5] = ["\"Product", "\"articleBody\"", "\"JobPosting\"", "\"Recipe\"", "\"FAQPage\""];

/// Adds the content of a page's JSON-LD that its markup does not show, as a `<main>` at its end. If the page shows next to
/// nothing, the texts of the state that its scripts would show are added in the same way.
///
/// Returns that element, or `None` if the page shows enough by itself.
pub(crate) fn add_json_ld_content(dom: &mut Dom, html: &str) -> Option<NodeId> {
    let added = stated_markup(dom, html).or_else(|| state_markup(dom, html))?;
    Some(dom.append_main(dom::parse(&added)))
}

/// Returns the content that only the JSON-LD of a page has, as HTML.
fn stated_markup(dom: &Dom, html: &str) -> Option<String> {
    if !html.contains("ld+json") || !NAMES.iter().any(|name| html.contains(name)) {
        return None;
    }
    let blocks = structured::blocks(dom);
    let objects = blocks.values.iter().flat_map(structured::objects);
    let found: Vec<StatedContent> = objects.filter_map(stated_content).take(MAX_OBJECTS).collect();
    if found.is_empty() {
        return None;
    }
    let visible = letters_of(&ContentView::visible(dom).text_up_to(dom, NodeId::ROOT, MAX_MARKUP_BYTES));
    let mut added = String::new();
    for content in found {
        let body = dom::parse(&content.body);
        let letters = letters_of(&ContentView::visible(&body).text(&body, NodeId::ROOT));
        let is_new = letters.len() >= MIN_LETTERS && is_missing(&letters, &visible);
        if is_new && added.len() + content.body.len() <= MAX_MARKUP_BYTES {
            let title = letters_of(&content.title);
            if !title.is_empty() && !visible.contains(&title) {
                added += &format!("<{0}>{1}</{0}>", content.heading, escaped(&content.title));
            }
            added += &content.facts;
            added += &content.body;
        }
    }
    Some(added).filter(|added| !added.is_empty())
}

/// Returns the texts in the state of a page that shows next to nothing, as HTML.
fn state_markup(dom: &Dom, html: &str) -> Option<String> {
    if !html.contains("application/json") || shows_text(dom) {
        return None;
    }
    let scripts = dom.elements(Tag::Script).filter(|&id| dom.is_script_of(id, "application/json"));
    let mut texts = StateTexts::default();
    for id in scripts.take(MAX_STATES) {
        let source = dom.own_text(id);
        if source.len() <= MAX_STATE_BYTES {
            let value = serde_json::from_str(source.trim()).unwrap_or(Value::Null);
            texts.collect(&value, 0);
        }
    }
    (texts.bytes >= MIN_STATE_BYTES).then_some(texts.markup)
}

/// Returns whether a page has a text outside its scripts, whether styles hide it or not.
fn shows_text(dom: &Dom) -> bool {
    let mut letters = 0;
    let mut walk = dom.descendants(NodeId::ROOT);
    while let Some(id) = walk.next() {
        if matches!(dom.tag(id), Some(tag) if tag.is_invisible()) {
            walk.skip_children(id);
        }
        letters += dom.text(id).chars().filter(|c| c.is_alphanumeric()).count();
        if letters >= MAX_SHELL_LETTERS {
            return true;
        }
    }
    false
}

/// The texts of the state of an application.
#[derive(Default)]
struct StateTexts {
    markup: String,
    /// The size of the texts.
    bytes: usize,
    seen: HashSet<u64>,
    hasher: RandomState,
}

impl StateTexts {
    /// Adds the texts of a value in their order: those of fields for content, with the titles next to them.
    fn collect(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Array(values) if depth < MAX_STATE_DEPTH => {
                values.iter().for_each(|value| self.collect(value, depth + 1));
            }
            Value::Object(object) if depth < MAX_STATE_DEPTH => {
                let text =
                    TEXT_FIELDS.iter().find_map(|name| field(object, name)).filter(|text| is_prose(text));
                if let Some(text) = text.filter(|text| self.seen.insert(self.hasher.hash_one(text)))
                    && self.markup.len() + text.len() <= MAX_MARKUP_BYTES
                {
                    if let Some(title) =
                        ["title", "headline", "name"].iter().find_map(|name| field(object, name))
                    {
                        self.markup += &format!("<h2>{}</h2>", escaped(title));
                    }
                    self.markup += &html_of(text);
                    self.bytes += text.len();
                }
                object.values().for_each(|value| self.collect(value, depth + 1));
            }
            _ => {}
        }
    }
}

/// Returns whether a text has sentences rather than a name, an address or code.
fn is_prose(text: &str) -> bool {
    let is_code = text.trim_start().starts_with(['{', '[']) || text.contains("function(");
    text.len() >= MIN_TEXT_BYTES
        && !is_code
        && text.matches(' ').take(MIN_TEXT_SPACES).count() >= MIN_TEXT_SPACES
}

/// Content of a JSON-LD object, as HTML.
struct StatedContent {
    heading: &'static str,
    title: String,
    facts: String,
    body: String,
}

/// Reads an article, a product, a job, a recipe or a question with its answer.
fn stated_content(object: &Map<String, Value>) -> Option<StatedContent> {
    let is = |wanted: &str| match object.get("@type") {
        Some(Value::String(kind)) => kind == wanted,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
        _ => false,
    };
    let title = ["name", "headline", "title"].iter().find_map(|name| field(object, name));
    let mut content = StatedContent {
        heading: "h1",
        title: title.unwrap_or_default().to_owned(),
        facts: String::new(),
        body: String::new(),
    };
    if is("Product") || is("ProductGroup") {
        content.fact("Brand", name_of(object.get("brand")));
        content.fact("Price", price(object.get("offers")));
        content.body = html_of(field(object, "description")?);
    } else if is("JobPosting") {
        content.fact("Organization", name_of(object.get("hiringOrganization")));
        content.fact("Location", place(object.get("jobLocation")));
        content.body = html_of(field(object, "description")?);
    } else if is("Recipe") {
        content.body = field(object, "description").map(html_of).unwrap_or_default();
        content.body += &list("ul", object.get("recipeIngredient"));
        content.body += &list("ol", object.get("recipeInstructions"));
    } else if is("Question") {
        content.heading = "h2";
        let answer = object.get("acceptedAnswer").or_else(|| object.get("suggestedAnswer"))?;
        let answer = answer.as_array().map_or(answer, |answers| answers.first().unwrap_or(answer));
        content.body = html_of(field(answer.as_object()?, "text")?);
    } else {
        content.body = html_of(field(object, "articleBody")?);
    }
    Some(content)
}

impl StatedContent {
    fn fact(&mut self, label: &str, value: Option<String>) {
        if let Some(value) = value {
            self.facts += &format!("<p>{label}: {}</p>", escaped(&value));
        }
    }
}

fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str).map(str::trim).filter(|value| !value.is_empty())
}

/// Writes a text, which is often HTML itself, as HTML.
fn html_of(text: &str) -> String {
    if text.contains("&lt;") {
        let unescaped = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        return format!("<div>{}</div>", unescaped.replace("&amp;", "&"));
    }
    if text.contains("</") || text.contains("<br") {
        return format!("<div>{text}</div>");
    }
    text.split('\n').map(|paragraph| format!("<p>{}</p>", escaped(paragraph))).collect()
}

/// Writes the ingredients or the steps of a recipe: texts, steps with a text, or sections of steps.
fn list(tag: &str, value: Option<&Value>) -> String {
    let mut items = Vec::new();
    collect_steps(value, 0, &mut items);
    if items.is_empty() {
        return String::new();
    }
    let items: String = items.iter().map(|item| format!("<li>{}</li>", html_of(item))).collect();
    format!("<{tag}>{items}</{tag}>")
}

fn collect_steps<'a>(value: Option<&'a Value>, depth: usize, out: &mut Vec<&'a str>) {
    match value {
        Some(Value::String(text)) => out.push(text.trim()),
        Some(Value::Array(values)) if depth < 4 => {
            values.iter().take(200).for_each(|value| collect_steps(Some(value), depth + 1, out));
        }
        Some(Value::Object(object)) => match object.get("itemListElement") {
            Some(steps) if depth < 4 => collect_steps(Some(steps), depth + 1, out),
            _ => out.extend(field(object, "text").or_else(|| field(object, "name"))),
        },
        _ => {}
    }
}

/// Returns the locality of a place, or of the first of several.
fn place(value: Option<&Value>) -> Option<String> {
    let value = value?;
    let place = value.as_array().map_or(Some(value), |places| places.first())?;
    let address = place.get("address").unwrap_or(place);
    let parts = ["addressLocality", "addressRegion", "addressCountry"];
    let parts: Vec<String> = parts.iter().filter_map(|part| name_of(address.get(*part))).collect();
    if parts.is_empty() { name_of(Some(address)) } else { Some(parts.join(", ")) }
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
