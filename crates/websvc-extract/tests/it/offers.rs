//! Products and menus of two sets of pages with what a person reads in them: `tests/offers`, which the rules were made
//! with, and `tests/offers_held_out`, which was written after them.
//!
//! The test prints precision and recall of each field: `cargo test -p websvc-extract --test it -- offers --nocapture`.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use url::Url;
use websvc_extract::{Document, Source};
use websvc_types::menu::PageMenu;
use websvc_types::product::PageProduct;

/// Numbers of right, wrong and missing values of a field.
#[derive(Debug, Default)]
struct Score {
    right: usize,
    wrong: usize,
    missing: usize,
}

impl Score {
    fn precision(&self) -> f64 {
        ratio(self.right, self.wrong)
    }

    fn recall(&self) -> f64 {
        ratio(self.right, self.missing)
    }
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
fn ratio(part: usize, rest: usize) -> f64 {
    if part + rest == 0 { 1.0 } else { part as f64 / (part + rest) as f64 }
}

/// Values of a page by field. A field with several values has them in a set.
type Fields = BTreeMap<&'static str, BTreeSet<String>>;

#[derive(Default)]
struct Scores {
    fields: BTreeMap<String, Score>,
    mistakes: Vec<String>,
}

impl Scores {
    fn compare(&mut self, page: &str, group: &str, expected: &Fields, found: &Fields) {
        let names: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
        let none = BTreeSet::new();
        for name in names {
            let (expected, found) = (expected.get(name).unwrap_or(&none), found.get(name).unwrap_or(&none));
            let score = self.fields.entry(format!("{group} {name}")).or_default();
            score.right += found.intersection(expected).count();
            score.wrong += found.difference(expected).count();
            score.missing += expected.difference(found).count();
            if found != expected {
                self.mistakes.push(format!("{page}: {group} {name}: {found:?}, expected {expected:?}"));
            }
        }
    }
}

fn set(value: &impl ToString) -> BTreeSet<String> {
    BTreeSet::from([value.to_string()])
}

fn expected_product(product: &Value) -> Fields {
    let mut fields = Fields::new();
    for name in
        ["title", "price", "currency", "inStock", "brand", "originalPrice", "variants", "sku", "category"]
    {
        match &product[name] {
            Value::Null => {}
            Value::String(text) => drop(fields.insert(name, set(text))),
            value => drop(fields.insert(name, set(value))),
        }
    }
    let values = product["values"].as_object().into_iter().flatten();
    let values: BTreeSet<_> =
        values.map(|(key, value)| format!("{key}={}", value.as_str().unwrap())).collect();
    fields.insert("values", values);
    fields
}

fn found_product(product: &PageProduct) -> Fields {
    let first = &product.variants[0];
    let mut fields = Fields::from([
        ("title", set(&product.title)),
        ("inStock", set(&first.availability.in_stock)),
        ("variants", set(&product.variants.len())),
        ("values", first.values.iter().map(|(key, value)| format!("{key}={value}")).collect()),
    ]);
    let sale = first.sale.as_ref().map(|sale| format!("{:?}", sale.original_price.amount));
    let price = first.price.as_ref();
    for (name, value) in [
        ("brand", product.brand.clone()),
        ("category", product.category.clone()),
        ("sku", first.sku.clone()),
        ("price", price.map(|price| format!("{:?}", price.amount))),
        ("currency", price.and_then(|price| price.currency.clone())),
        ("originalPrice", sale),
    ] {
        fields.extend(value.map(|value| (name, set(&value))));
    }
    fields
}

fn expected_menu(menu: &Value) -> Fields {
    let mut fields = Fields::from([("merchant", set(&menu["merchant"].as_str().unwrap()))]);
    fields.extend(menu["currency"].as_str().map(|currency| ("currency", set(&currency))));
    for section in menu["sections"].as_array().unwrap() {
        let name = section["name"].as_str().unwrap();
        fields.entry("sections").or_default().insert(name.to_owned());
        for item in section["items"].as_array().unwrap() {
            let item_name = item["name"].as_str().unwrap();
            fields.entry("items").or_default().insert(format!("{name} / {item_name}"));
            let price = item["price"].as_f64().unwrap();
            fields.entry("prices").or_default().insert(format!("{item_name} {price:?}"));
            for diet in item["dietary"].as_array().into_iter().flatten() {
                fields
                    .entry("dietary")
                    .or_default()
                    .insert(format!("{item_name} {}", diet.as_str().unwrap()));
            }
        }
    }
    fields
}

fn found_menu(menu: &PageMenu) -> Fields {
    let mut fields = Fields::from([("merchant", set(&menu.merchant.name))]);
    fields.extend(menu.currency.as_ref().map(|currency| ("currency", set(&currency))));
    for section in &menu.sections {
        fields.entry("sections").or_default().insert(section.name.clone());
        for item in &section.items {
            fields.entry("items").or_default().insert(format!("{} / {}", section.name, item.name));
            let price = item.price.as_ref().map(|price| format!("{} {:?}", item.name, price.amount));
            fields.entry("prices").or_default().extend(price);
            let dietary = item.dietary.iter().map(|diet| format!("{} {diet}", item.name));
            fields.entry("dietary").or_default().extend(dietary);
        }
    }
    fields
}

#[expect(clippy::print_stdout, reason = "the test prints its figures for docs/benchmarks.md")]
fn print(line: &str) {
    println!("{line}");
}

/// Reads the pages of a folder, prints the scores and the mistakes, and checks the minimum of each field.
fn check(folder: &str, min_count: usize, min_precision: f64, min_recall: f64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut scores = Scores::default();
    let mut count = 0;
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "html")) {
        count += 1;
        let truth: Value =
            serde_json::from_slice(&std::fs::read(file.with_extension("json")).unwrap()).unwrap();
        let url = Url::parse(truth["url"].as_str().unwrap()).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let page =
            Document::parse(Source { bytes: &bytes, content_type: Some("text/html"), url: &url }).unwrap();
        let name = file.file_stem().unwrap().to_str().unwrap();
        let expected = Some(&truth["product"]).filter(|product| !product.is_null()).map(expected_product);
        let found = page.product().as_ref().map(found_product);
        scores.compare(name, "product", &expected.unwrap_or_default(), &found.unwrap_or_default());
        let expected = Some(&truth["menu"]).filter(|menu| !menu.is_null()).map(expected_menu);
        let found = page.menu().as_ref().map(found_menu);
        scores.compare(name, "menu", &expected.unwrap_or_default(), &found.unwrap_or_default());
    }
    print(&format!("{count} pages\n{:24} precision recall values", "field"));
    for (field, score) in &scores.fields {
        let (precision, recall) = (score.precision(), score.recall());
        print(&format!("{field:24} {precision:9.3} {recall:6.3} {:6}", score.right + score.missing));
    }
    scores.mistakes.sort();
    print(&scores.mistakes.join("\n"));
    assert!(count >= min_count, "the set has only {count} pages");
    for (field, score) in &scores.fields {
        assert!(score.precision() >= min_precision, "{field}: precision {}", score.precision());
        assert!(score.recall() >= min_recall, "{field}: recall {}", score.recall());
    }
}

#[test]
fn products_and_menus_of_the_development_set_are_read() {
    check("offers", 60, 0.98, 0.95);
}

#[test]
fn products_and_menus_of_the_held_out_set_are_read() {
    check("offers_held_out", 25, 0.95, 0.9);
}
