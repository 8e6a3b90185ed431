//! Data that pages embed for their own scripts: the state of frameworks, and JSON of shop systems.
//!
//! Scripts are not run: only literals are read, and only from places that are known to have them.

mod devalue;
mod js_literal;
mod scripts;

use crate::document::Document;
use crate::dom::NodeId;
use serde_json::Value;

/// Maximum number of bytes of scripts that are read of a page, and maximum number of values that are returned.
const MAX_BYTES: usize = 4 << 20;
const MAX_VALUES: usize = 200;

/// Maximum number of bytes that are parsed as literals, including those that are parsed several times.
const MAX_PARSED_BYTES: usize = 2 * MAX_BYTES;

/// Variables that frameworks assign their state to.
const STATE_VARIABLES: [&str; 9] = [
    "__NUXT__",
    "__APOLLO_STATE__",
    "__INITIAL_STATE__",
    "__PRELOADED_STATE__",
    "__REDUX_STATE__",
    "__remixContext",
    "__STATE__",
    "__INITIAL_DATA__",
    "__APP_STATE__",
];

/// A value that a page embeds.
#[derive(Debug)]
pub(crate) struct EmbeddedValue {
    pub(crate) origin: Origin,
    pub(crate) value: Value,
}

/// The kind of a place with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The state of a framework, or a script of type `application/json`.
    State,
    /// `ShopifyAnalytics.meta` and `var meta` of Shopify.
    ShopifyMeta,
    /// An event of Google Analytics: an argument of `dataLayer.push` or `gtag`.
    AnalyticsEvent,
    /// The variations of a product of WooCommerce.
    WooCommerceVariations,
}

/// Returns the embedded data of a page: first that of its elements, then that of its programs.
pub(crate) fn values(document: &Document) -> Vec<EmbeddedValue> {
    let dom = &document.dom;
    let mut found = Vec::new();
    let mut budget = MAX_BYTES;
    let mut copies = devalue::CopyBudget::new();
    for id in dom.descendants(NodeId::ROOT) {
        if let Some(variations) = dom.attribute(id, "data-product_variations") {
            let Some(left) = budget.checked_sub(variations.len()) else { break };
            budget = left;
            let value = serde_json::from_str(variations).ok();
            found.extend(value.map(|value| EmbeddedValue { origin: Origin::WooCommerceVariations, value }));
        }
        if dom.is_script_of(id, "application/json") {
            let source = dom.own_text(id);
            let Some(left) = budget.checked_sub(source.len()) else { break };
            budget = left;
            let value = read_json(&source, dom.attribute(id, "id"), &mut copies);
            found.extend(value.map(|value| EmbeddedValue { origin: Origin::State, value }));
        }
    }
    let mut reader = CodeReader { found, budget: MAX_PARSED_BYTES };
    for program in scripts::programs(&document.raw) {
        let Some(left) = budget.checked_sub(program.len()) else { break };
        budget = left;
        reader.read(program);
    }
    reader.found.truncate(MAX_VALUES);
    reader.found
}

fn read_json(source: &str, id: Option<&str>, copies: &mut devalue::CopyBudget) -> Option<Value> {
    let value = serde_json::from_str(source.trim()).ok()?;
    if id == Some("__NUXT_DATA__") { devalue::hydrate(&value, copies) } else { Some(value) }
}

/// Reads the assignments and calls with literals from programs.
struct CodeReader {
    found: Vec<EmbeddedValue>,
    /// The number of bytes that may still be parsed: literals may contain the names that are searched for.
    budget: usize,
}

impl CodeReader {
    fn read(&mut self, program: &str) {
        for name in STATE_VARIABLES {
            for rest in after_each(program, name).filter_map(assigned) {
                let value = self.literal(rest).0.filter(|value| value.is_object() || value.is_array());
                let value = value.or_else(|| {
                    self.budget = self.budget.checked_sub(rest.len())?;
                    js_literal::parse_call(rest)
                });
                self.add(Origin::State, value);
            }
        }
        for name in ["var meta", "ShopifyAnalytics.meta"] {
            for rest in after_each(program, name).filter_map(assigned) {
                let value = self.literal(rest).0;
                self.add(Origin::ShopifyMeta, value);
            }
        }
        for rest in after_each(program, "dataLayer.push(") {
            let value = self.literal(rest).0;
            self.add(Origin::AnalyticsEvent, value);
        }
        for rest in after_each(program, "dataLayer").filter_map(assigned) {
            if let Some(Value::Array(events)) = self.literal(rest).0 {
                events.into_iter().for_each(|event| self.add(Origin::AnalyticsEvent, Some(event)));
            }
        }
        for rest in after_each(program, "gtag(") {
            let value = self.gtag_event(rest);
            self.add(Origin::AnalyticsEvent, value);
        }
    }

    fn add(&mut self, origin: Origin, value: Option<Value>) {
        if self.found.len() < MAX_VALUES {
            self.found.extend(value.map(|value| EmbeddedValue { origin, value }));
        }
    }

    /// Parses a literal, unless too much was parsed already. Returns it with the text after it.
    fn literal<'s>(&mut self, source: &'s str) -> (Option<Value>, &'s str) {
        if self.budget == 0 || self.found.len() >= MAX_VALUES {
            return (None, source);
        }
        let (value, rest) = js_literal::parse(source);
        self.budget = self.budget.saturating_sub(source.len() - rest.len());
        (value, rest)
    }

    /// Returns an event of `gtag('event', 'view_item', {...})` in the form of `dataLayer.push`.
    fn gtag_event(&mut self, rest: &str) -> Option<Value> {
        let (command, rest) = self.literal(rest);
        let (name, rest) = self.literal(rest.trim_start().strip_prefix(',')?);
        let (parameters, _) = self.literal(rest.trim_start().strip_prefix(',')?);
        (command? == "event").then_some(serde_json::json!({ "event": name?, "ecommerce": parameters? }))
    }
}

/// Maximum number of occurrences of a name in a program that are read.
const MAX_OCCURRENCES: usize = 50;

/// Iterates over the texts after each occurrence of a name.
fn after_each<'a>(source: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    source.match_indices(name).take(MAX_OCCURRENCES).map(|(at, _)| &source[at + name.len()..])
}

/// Returns the text after the `=` of an assignment to a variable or a property.
fn assigned(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['"', '\'', ']']).trim_start();
    let value = rest.strip_prefix('=')?.trim_start();
    // `window.dataLayer = window.dataLayer || []`, and comparisons.
    (!value.starts_with('=')).then_some(value)
}
