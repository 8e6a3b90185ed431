//! Tests that the conformance table has a row for every field, and that the tests it names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use websvc_types::{Format, schema};

use super::sections;

fn names() -> BTreeSet<&'static str> {
    sections::all().iter().flat_map(|section| &section.rows).map(|row| row.name).collect()
}

fn root(name: &str) -> Value {
    let (_, schema) = schema::roots().into_iter().find(|(root, _)| *root == name).expect("the root exists");
    schema.to_value()
}

/// Returns the fields of the schema of an object, without those for official clients.
fn fields(schema: &Value) -> Vec<String> {
    let fields = schema["properties"].as_object().expect("the schema of an object").iter();
    let is_for_clients = |name: &str, field: &Value| {
        ["origin", "integration"].contains(&name) || field["deprecated"] == Value::Bool(true)
    };
    fields.filter(|(name, field)| !is_for_clients(name, field)).map(|(name, _)| name.clone()).collect()
}

#[test]
fn conformance_table_covers_every_request_field() {
    let request = root("search-request");
    let of = |definition: &str| fields(&request["$defs"][definition]);
    let actions = request["$defs"]["Action"]["oneOf"].as_array().expect("a list of actions");
    let actions = actions.iter().filter_map(|one| one["properties"]["type"]["const"].as_str());
    let table = [
        ("2.1", fields(&request)),
        ("2.2", of("ScrapeOptions")),
        ("2.2.1", Format::NAMES.iter().map(|name| (*name).to_owned()).collect()),
        ("2.2.2", actions.map(str::to_owned).collect()),
        ("2.2.3", of("RedactOptions")),
        ("2.3", of("ThreatProtection")),
    ];
    let names = names();
    let rows =
        table.iter().flat_map(|(section, fields)| fields.iter().map(move |f| format!("{section} {f}")));
    let missing: Vec<String> = rows.filter(|row| !names.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn conformance_rows_are_unique_and_in_their_section() {
    let mut seen = BTreeSet::new();
    for section in sections::all() {
        for row in section.rows {
            assert!(
                row.name.starts_with(&format!("{} ", section.number)),
                "{} in {}",
                row.name,
                section.number
            );
            assert!(seen.insert(row.name), "{} occurs twice", row.name);
        }
    }
}

#[test]
fn conformance_tests_exist() {
    let mut sources: BTreeMap<&str, String> = BTreeMap::new();
    let mut missing = Vec::new();
    for row in sections::all().iter().flat_map(|section| &section.rows) {
        for (in_crate, test) in &row.tests {
            let source = sources.entry(in_crate).or_insert_with(|| source(in_crate));
            if !has_test(source, test) {
                missing.push(format!("{}: {in_crate} {test}", row.name));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Returns the text of all source files of a crate.
fn source(in_crate: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(in_crate);
    let mut text = String::new();
    for part in ["src", "tests"] {
        collect(&folder.join(part), &mut text);
    }
    text
}

fn collect(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).expect("sources are text"));
        }
    }
}

/// Returns whether a source has a function with this name below a test attribute.
fn has_test(source: &str, name: &str) -> bool {
    let mut previous_line = "";
    for line in source.lines().map(str::trim) {
        let is_function = line
            .trim_start_matches("async ")
            .strip_prefix("fn ")
            .is_some_and(|rest| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')));
        if is_function && previous_line.contains("test") && previous_line.starts_with("#[") {
            return true;
        }
        previous_line = line;
    }
    false
}
