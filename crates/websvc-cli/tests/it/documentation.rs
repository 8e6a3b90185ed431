//! The manual says what the schemas say: every field with its type, default and limits, and examples that work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::harness::{Service, tea_world};

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Returns the rows of all tables of a page that have this header.
fn rows(page: &str, header: &[&str]) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut rows = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if !line.starts_with('|') {
            inside = false;
        } else if inside {
            rows.push(cells(line));
        } else {
            inside = cells(line) == header;
        }
    }
    rows.retain(|row| !row[0].starts_with("---"));
    assert!(!rows.is_empty(), "no table with the header {header:?}");
    rows
}

/// Returns the texts in code marks of a cell.
fn codes(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The schemas that the service publishes.
struct Schemas(Value);

/// A field of a request, and what its row has to say.
struct Field<'a> {
    schema: &'a Value,
    required: bool,
}

impl Schemas {
    fn new() -> Self {
        Self(websvc_types::openapi::document())
    }

    fn named(&self, name: &str) -> &Value {
        let schema = &self.0["components"]["schemas"][name];
        assert!(schema.is_object(), "no schema {name}");
        schema
    }

    /// Returns what a reference leads to; any other schema is returned as it is.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(reference) => self.named(reference.rsplit('/').next().unwrap()),
            None => schema,
        }
    }

    /// Returns the alternatives of a schema, the ones apart that are there for official clients alone.
    fn alternatives<'a>(&self, schema: &'a Value) -> Vec<&'a Value> {
        let lists = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array());
        lists.flatten().filter(|schema| schema["deprecated"] != true).collect()
    }

    /// Collects the fields of `schema` by their paths. What has a constant `type` begins a path with that; the fields
    /// of the property `elsewhere` are on another page.
    fn collect<'a>(
        &'a self,
        schema: &'a Value,
        path: &str,
        elsewhere: &str,
        fields: &mut BTreeMap<String, Field<'a>>,
    ) {
        let tag = schema["properties"]["type"]["const"].as_str();
        let path = tag.unwrap_or(path);
        let schema = self.resolve(schema);
        let Some(properties) = schema["properties"].as_object() else {
            self.collect_items(schema, path, elsewhere, fields);
            return self
                .alternatives(schema)
                .iter()
                .for_each(|one| self.collect(one, path, elsewhere, fields));
        };
        for (name, property) in properties {
            if property["deprecated"] == true || property["const"].is_string() {
                continue;
            }
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let required =
                schema["required"].as_array().is_some_and(|names| names.contains(&name.as_str().into()));
            if name != elsewhere {
                self.collect(property, &path, elsewhere, fields);
            }
            fields.entry(path).or_insert(Field { schema: property, required });
        }
    }

    fn collect_items<'a>(
        &'a self,
        schema: &'a Value,
        path: &str,
        elsewhere: &str,
        fields: &mut BTreeMap<String, Field<'a>>,
    ) {
        if schema["items"].is_object() {
            self.collect(&schema["items"], &format!("{path}[]"), elsewhere, fields);
        }
    }

    /// Returns the JSON types that a value may have, null aside.
    fn types(&self, schema: &Value) -> BTreeSet<String> {
        let schema = self.resolve(schema);
        let mut types: BTreeSet<String> = match &schema["type"] {
            Value::String(one) => [one.clone()].into(),
            Value::Array(several) => several.iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
            _ => self.alternatives(schema).iter().flat_map(|one| self.types(one)).collect(),
        };
        types.remove("null");
        types
    }

    /// Returns the names that a value, or an item of a list of texts, may be.
    fn names(&self, schema: &Value) -> Vec<String> {
        let schema = self.resolve(schema);
        let named = schema["enum"].as_array().into_iter().flatten().chain([&schema["const"]]);
        let mut names: Vec<String> = named.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        names.extend(self.alternatives(schema).iter().flat_map(|one| self.names(one)));
        if schema["items"].is_object() && self.types(&schema["items"]) == ["string".to_owned()].into() {
            names.extend(self.names(&schema["items"]));
        }
        names
    }

    /// Returns the numbers that bound a value or its items.
    fn bounds(&self, schema: &Value) -> Vec<u64> {
        let schema = self.resolve(schema);
        let lower =
            ["minimum", "minLength", "minItems"].map(|key| schema[key].as_u64().filter(|bound| *bound > 0));
        let upper = ["maximum", "maxLength", "maxItems"].map(|key| schema[key].as_u64());
        let mut bounds: Vec<u64> = lower.into_iter().chain(upper).flatten().collect();
        if schema["items"].is_object() {
            bounds.extend(self.bounds(&schema["items"]));
        }
        bounds
    }
}

/// Compares the tables of a page with the fields of a schema.
fn check_request(page_name: &str, schema: &str, elsewhere: &str) {
    let schemas = Schemas::new();
    let mut fields = BTreeMap::new();
    schemas.collect(schemas.named(schema), "", elsewhere, &mut fields);
    let page = page(page_name);
    let rows = rows(&page, &["Field", "Type", "Default", "Rules"]);
    let documented: BTreeSet<&str> = rows.iter().map(|row| codes(&row[0])[0]).collect();
    let known: BTreeSet<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(documented, known, "the fields of {page_name} (left) and those of {schema} (right)");
    for row in &rows {
        let [field, types, default, rules] = row.as_slice() else { panic!("{row:?}") };
        let Field { schema, required } = &fields[codes(field)[0]];
        let types: BTreeSet<String> = types.split(", ").map(str::to_owned).collect();
        assert_eq!(types, schemas.types(schema), "type of {field} in {page_name}");
        assert_eq!(default == "required", *required, "default of {field} in {page_name}");
        if let Some(value) = schema.get("default").filter(|_| !required) {
            let said: Option<Value> = codes(default).first().and_then(|code| serde_json::from_str(code).ok());
            assert_eq!(said.as_ref(), Some(value), "default of {field} in {page_name}");
        }
        let numbers: BTreeSet<&str> = rules.split(|letter: char| !letter.is_ascii_digit()).collect();
        for bound in schemas.bounds(schema) {
            assert!(
                numbers.contains(bound.to_string().as_str()),
                "{page_name}: {field} does not say {bound}"
            );
        }
        for name in schemas.names(schema) {
            assert!(codes(rules).contains(&name.as_str()), "{page_name}: {field} does not say {name}");
        }
    }
}

#[test]
fn every_field_of_a_search_is_documented() {
    check_request("search.md", "SearchRequest", "scrapeOptions");
}

#[test]
fn every_field_of_a_map_is_documented() {
    let (schemas, page) = (Schemas::new(), page("map.md"));
    let rows = rows(&page, &["Field", "Type", "Default", "Rules"]);
    let documented: BTreeSet<&str> = rows.iter().flat_map(|row| codes(&row[0])).collect();
    let known = schemas.named("MapRequest")["properties"].as_object().unwrap();
    assert_eq!(documented, known.keys().map(String::as_str).collect());
    for row in &rows {
        for field in codes(&row[0]) {
            let numbers: BTreeSet<&str> = row[3].split(|letter: char| !letter.is_ascii_digit()).collect();
            for bound in schemas.bounds(&known[field]) {
                assert!(numbers.contains(bound.to_string().as_str()), "{field} does not say {bound}");
            }
        }
    }
}

#[test]
fn every_option_of_a_scrape_is_documented() {
    check_request("scraping.md", "ScrapeOptions", "threatProtection");
}

#[test]
fn every_format_and_action_is_documented() {
    let page = page("scraping.md");
    let schemas = Schemas::new();
    let formats = rows(&page, &["Format", "In the result", "Content"]);
    let formats: Vec<&str> = formats.iter().map(|row| codes(&row[0])[0]).collect();
    assert_eq!(formats, websvc_types::Format::NAMES);
    let actions = rows(&page, &["Action", "Does"]);
    let actions: BTreeSet<&str> = actions.iter().map(|row| codes(&row[0])[0]).collect();
    let known = schemas.alternatives(schemas.named("Action"));
    let known: BTreeSet<&str> =
        known.iter().map(|action| action["properties"]["type"]["const"].as_str().unwrap()).collect();
    assert_eq!(actions, known);
}

#[test]
fn every_field_of_an_answer_is_documented() {
    let schemas = Schemas::new();
    let mut known = BTreeMap::new();
    for (place, name) in [
        ("response", "SearchResponse"),
        ("data", "SearchData"),
        ("web", "WebResult"),
        ("images", "ImageResult"),
        ("news", "NewsResult"),
        ("metadata", "Metadata"),
    ] {
        for (field, schema) in schemas.named(name)["properties"].as_object().unwrap() {
            let types = schemas.types(schema);
            let types = if types.is_empty() { ["any".to_owned()].into() } else { types };
            known.insert((place.to_owned(), field.clone()), types);
        }
    }
    let mut documented = BTreeMap::new();
    for row in rows(&page("search.md"), &["Field", "In", "Type", "Meaning"]) {
        for field in codes(&row[0]) {
            for place in row[1].split(", ") {
                let types: BTreeSet<String> = row[2].split(", ").map(str::to_owned).collect();
                documented.insert((place.to_owned(), field.to_owned()), types);
            }
        }
    }
    assert_eq!(documented, known, "docs/search.md (left) and the schemas (right)");
}

#[tokio::test]
async fn error_page_has_the_metadata_error_of_the_manual() {
    let world = websvc_testkit::TestWeb::builder()
        .page("http://tea.test/gone", websvc_testkit::Page::html("<h1>Gone</h1>").status(404))
        .start()
        .await;
    let service = Service::of(&world);
    let body = serde_json::json!({ "url": "http://tea.test/gone", "formats": ["markdown"] });
    let answer = service.post("/v2/scrape", body.to_string()).await;
    let data = &answer.body["data"];
    assert_eq!((&data["markdown"], &data["metadata"]["statusCode"]), (&"# Gone\n".into(), &404.into()));
    let error = data["metadata"]["error"].as_str().unwrap();
    assert!(page("errors.md").contains(&format!("such as `{error}`")), "{error}");
}

/// Returns the JSON examples of a page.
fn examples(page: &str) -> Vec<Value> {
    let blocks = page.split("```json\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    blocks
        .map(|block| serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}")))
        .collect()
}

#[tokio::test]
async fn the_examples_of_the_manual_work() {
    let world = tea_world().await;
    let service = Service::of(&world);
    // A search of an empty index has a warning.
    service.list(&[("listed", "http://tea.test/listed")]).await;
    let mut asked = 0;
    for name in ["search.md", "scraping.md", "errors.md"] {
        let examples = examples(&page(name));
        for (position, request) in
            examples.iter().enumerate().filter(|(_, example)| example["query"].is_string())
        {
            asked += 1;
            let answer = service.search(request.clone()).await;
            match examples.get(position + 1).filter(|next| next["success"] == false) {
                Some(failure) => {
                    assert_eq!((answer.status.as_u16(), &answer.body), (400, failure), "{name}: {request}");
                }
                None => {
                    assert_eq!(
                        (answer.status.as_u16(), &answer.body["warning"]),
                        (200, &Value::Null),
                        "{name}"
                    );
                }
            }
        }
    }
    assert_eq!(asked, 4);
}
