//! Tests that the manual agrees with the schemas: types, defaults and limits of every field, and working examples.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::harness::{Service, tea_world};

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Returns the rows of all tables with this header.
fn rows(page: &str, header: &[&str]) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut rows = Vec::new();
    let mut is_in_table = false;
    for line in page.lines() {
        if !line.starts_with('|') {
            is_in_table = false;
        } else if is_in_table {
            rows.push(cells(line));
        } else {
            is_in_table = cells(line) == header;
        }
    }
    rows.retain(|row| !row[0].starts_with("---"));
    assert!(!rows.is_empty(), "no table with the header {header:?}");
    rows
}

/// Returns the texts in backticks of a cell.
fn codes(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The schemas of the OpenAPI document.
struct Schemas(Value);

/// A field of a request.
struct Field<'a> {
    schema: &'a Value,
    required: bool,
}

impl Schemas {
    fn new() -> Self {
        Self(websvc_testkit::openapi_document())
    }

    fn named(&self, name: &str) -> &Value {
        let schema = &self.0["components"]["schemas"][name];
        assert!(schema.is_object(), "no schema {name}");
        schema
    }

    /// Returns the target of a reference, or the schema itself if it is not a reference.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(reference) => self.named(reference.rsplit('/').next().unwrap()),
            None => schema,
        }
    }

    /// Returns the alternatives of a schema, without the deprecated ones that only official clients use.
    fn alternatives<'a>(&self, schema: &'a Value) -> Vec<&'a Value> {
        let lists = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema[key].as_array());
        lists.flatten().filter(|schema| schema["deprecated"] != true).collect()
    }

    /// Collects the fields of `schema` by their paths. The path of a schema with a constant `type` starts with that
    /// type. The fields of the property `excluded` are left out: another page documents them.
    fn collect<'a>(
        &'a self,
        schema: &'a Value,
        path: &str,
        excluded: &str,
        fields: &mut BTreeMap<String, Field<'a>>,
    ) {
        let tag = schema["properties"]["type"]["const"].as_str();
        let path = tag.unwrap_or(path);
        let schema = self.resolve(schema);
        let Some(properties) = schema["properties"].as_object() else {
            self.collect_items(schema, path, excluded, fields);
            return self
                .alternatives(schema)
                .iter()
                .for_each(|alternative| self.collect(alternative, path, excluded, fields));
        };
        for (name, property) in properties {
            if property["deprecated"] == true || property["const"].is_string() {
                continue;
            }
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let required =
                schema["required"].as_array().is_some_and(|names| names.contains(&name.as_str().into()));
            if name != excluded {
                self.collect(property, &path, excluded, fields);
            }
            fields.entry(path).or_insert(Field { schema: property, required });
        }
    }

    fn collect_items<'a>(
        &'a self,
        schema: &'a Value,
        path: &str,
        excluded: &str,
        fields: &mut BTreeMap<String, Field<'a>>,
    ) {
        if schema["items"].is_object() {
            self.collect(&schema["items"], &format!("{path}[]"), excluded, fields);
        }
    }

    /// Returns the JSON types that a value may have, without null.
    fn types(&self, schema: &Value) -> BTreeSet<String> {
        let schema = self.resolve(schema);
        let mut types: BTreeSet<String> = match &schema["type"] {
            Value::String(name) => [name.clone()].into(),
            Value::Array(names) => names.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
            _ => self.alternatives(schema).iter().flat_map(|alternative| self.types(alternative)).collect(),
        };
        types.remove("null");
        types
    }

    /// Returns the allowed names of a value or of the items of a list.
    fn names(&self, schema: &Value) -> Vec<String> {
        let schema = self.resolve(schema);
        let named = schema["enum"].as_array().into_iter().flatten().chain([&schema["const"]]);
        let mut names: Vec<String> = named.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        names.extend(self.alternatives(schema).iter().flat_map(|alternative| self.names(alternative)));
        if schema["items"].is_object() && self.types(&schema["items"]) == ["string".to_owned()].into() {
            names.extend(self.names(&schema["items"]));
        }
        names
    }

    /// Returns the limits of a value and its items.
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

/// Compares the tables of pages with the fields of a schema.
fn check_request(page_names: &[&str], schema: &str, excluded: &str) {
    let schemas = Schemas::new();
    let mut fields = BTreeMap::new();
    schemas.collect(schemas.named(schema), "", excluded, &mut fields);
    let page_name = page_names.join(", ");
    let tables = |name: &&str| rows(&page(name), &["Field", "Type", "Default", "Rules"]);
    let rows: Vec<Vec<String>> = page_names.iter().flat_map(tables).collect();
    let documented: BTreeSet<&str> = rows.iter().map(|row| codes(&row[0])[0]).collect();
    let expected: BTreeSet<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(documented, expected, "fields in {page_name} (left) and in {schema} (right)");
    for row in &rows {
        let [field, types, default, rules] = row.as_slice() else { panic!("{row:?}") };
        let Field { schema, required } = &fields[codes(field)[0]];
        let types: BTreeSet<String> = types.split(", ").map(str::to_owned).collect();
        assert_eq!(types, schemas.types(schema), "type of {field} in {page_name}");
        assert_eq!(default == "required", *required, "default of {field} in {page_name}");
        if let Some(value) = schema.get("default").filter(|_| !required) {
            let documented: Option<Value> =
                codes(default).first().and_then(|code| serde_json::from_str(code).ok());
            assert_eq!(documented.as_ref(), Some(value), "default of {field} in {page_name}");
        }
        let numbers: BTreeSet<&str> = rules.split(|letter: char| !letter.is_ascii_digit()).collect();
        for bound in schemas.bounds(schema) {
            assert!(
                numbers.contains(bound.to_string().as_str()),
                "{page_name}: the rules of {field} lack {bound}"
            );
        }
        for name in schemas.names(schema) {
            assert!(codes(rules).contains(&name.as_str()), "{page_name}: the rules of {field} lack {name}");
        }
    }
}

#[test]
fn every_field_of_a_search_is_documented() {
    check_request(&["search.md"], "SearchRequest", "scrapeOptions");
}

#[test]
fn every_field_of_a_map_is_documented() {
    let (schemas, page) = (Schemas::new(), page("map.md"));
    let rows = rows(&page, &["Field", "Type", "Default", "Rules"]);
    let documented: BTreeSet<&str> = rows.iter().flat_map(|row| codes(&row[0])).collect();
    let expected = schemas.named("MapRequest")["properties"].as_object().unwrap();
    assert_eq!(documented, expected.keys().map(String::as_str).collect());
    for row in &rows {
        for field in codes(&row[0]) {
            let numbers: BTreeSet<&str> = row[3].split(|letter: char| !letter.is_ascii_digit()).collect();
            for bound in schemas.bounds(&expected[field]) {
                assert!(numbers.contains(bound.to_string().as_str()), "the rules of {field} lack {bound}");
            }
        }
    }
}

#[test]
fn every_option_of_a_scrape_is_documented() {
    check_request(&["scraping.md", "formats.md", "actions.md"], "ScrapeOptions", "threatProtection");
}

#[test]
fn every_format_and_action_is_documented() {
    let schemas = Schemas::new();
    let formats = rows(&page("formats.md"), &["Format", "In the result", "Content"]);
    let formats: Vec<&str> = formats.iter().map(|row| codes(&row[0])[0]).collect();
    assert_eq!(formats, websvc_types::Format::NAMES);
    let actions = rows(&page("actions.md"), &["Action", "Does"]);
    let actions: BTreeSet<&str> = actions.iter().map(|row| codes(&row[0])[0]).collect();
    let expected = schemas.alternatives(schemas.named("Action"));
    let expected: BTreeSet<&str> =
        expected.iter().map(|action| action["properties"]["type"]["const"].as_str().unwrap()).collect();
    assert_eq!(actions, expected);
}

#[test]
fn every_field_of_a_response_is_documented() {
    let schemas = Schemas::new();
    let mut expected = BTreeMap::new();
    for (parent, name) in [
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
            expected.insert((parent.to_owned(), field.clone()), types);
        }
    }
    let mut documented = BTreeMap::new();
    for row in rows(&page("search.md"), &["Field", "In", "Type", "Meaning"]) {
        for field in codes(&row[0]) {
            for parent in row[1].split(", ") {
                let types: BTreeSet<String> = row[2].split(", ").map(str::to_owned).collect();
                documented.insert((parent.to_owned(), field.to_owned()), types);
            }
        }
    }
    assert_eq!(documented, expected, "docs/search.md (left) and the schemas (right)");
}

#[test]
fn every_deployment_file_is_documented() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/deploy");
    let mut files = BTreeSet::new();
    for folder in std::fs::read_dir(directory).unwrap() {
        let folder = folder.unwrap();
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let file = file.unwrap();
            // The files of a directory below are documented together.
            let end = if file.path().is_dir() { "/" } else { "" };
            let (folder, file) = (folder.file_name(), file.file_name());
            files.insert(format!("{}/{}{end}", folder.to_str().unwrap(), file.to_str().unwrap()));
        }
    }
    let page = page("deployment.md");
    let rows = rows(&page, &["I want to ...", "Files in `docs/deploy/`"]);
    let documented: BTreeSet<String> = rows
        .iter()
        .flat_map(|row| codes(&row[1]))
        .filter(|code| code.contains('/'))
        .map(str::to_owned)
        .collect();
    assert_eq!(documented, files, "docs/deployment.md (left) and docs/deploy (right)");
}

#[test]
fn alerts_and_the_dashboard_use_documented_metrics() {
    let manual = page("observability.md");
    let is_documented = |name: &str| {
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix));
        [Some(name), family]
            .into_iter()
            .flatten()
            .any(|name| manual.contains(&format!("`{name}`")) || manual.contains(&format!("`{name}{{")))
    };
    for file in ["deploy/monitoring/alerts.yaml", "deploy/monitoring/grafana.json"] {
        let text = page(file);
        let names = text.split(|c: char| !c.is_ascii_lowercase() && c != '_');
        let names: BTreeSet<&str> = names.filter(|name| name.starts_with("websvc_")).collect();
        assert!(names.len() > 8, "{file}: {names:?}");
        let unknown: Vec<&&str> = names.iter().filter(|name| !is_documented(name)).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
}

#[tokio::test]
async fn error_page_has_the_documented_metadata_error() {
    let world = websvc_testkit::TestWeb::builder()
        .page("http://tea.test/gone", websvc_testkit::Page::html("<h1>Gone</h1>").status(404))
        .start()
        .await;
    let service = Service::for_world(&world);
    let body = serde_json::json!({ "url": "http://tea.test/gone", "formats": ["markdown"] });
    let response = service.post("/v2/scrape", body.to_string()).await;
    let data = &response.body["data"];
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
async fn examples_of_the_manual_work() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    // A search of an empty index would have a warning, and so would one for a phrase that no page has.
    let pages = [("listed", "http://tea.test/listed"), ("context manager", "http://docs.python.org/with")];
    service.index_pages(&pages).await;
    let mut count = 0;
    for name in ["search.md", "scraping.md", "errors.md"] {
        let examples = examples(&page(name));
        for (position, request) in
            examples.iter().enumerate().filter(|(_, example)| example["query"].is_string())
        {
            count += 1;
            let response = service.search(request.clone()).await;
            match examples.get(position + 1).filter(|next| next["success"] == false) {
                Some(failure) => {
                    assert_eq!(
                        (response.status.as_u16(), &response.body),
                        (400, failure),
                        "{name}: {request}"
                    );
                }
                None => {
                    assert_eq!(
                        (response.status.as_u16(), &response.body["warning"]),
                        (200, &Value::Null),
                        "{name}"
                    );
                }
            }
        }
    }
    assert_eq!(count, 4);
}
