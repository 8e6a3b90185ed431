//! The list of the components of the program (SBOM) in the format CycloneDX 1.5: the crates in its tree, with versions and
//! licences.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Release;
use crate::Result;

const PROGRAM: &str = "websvc-cli";

/// Writes `websvc-VERSION.cdx.json`.
pub(super) fn write(release: &Release, metadata: &Value) -> Result<PathBuf> {
    let path = release.target.join(format!("websvc-{}.cdx.json", release.version));
    fs::write(&path, serde_json::to_string_pretty(&document(&release.version, metadata))?)?;
    Ok(path)
}

fn document(version: &str, metadata: &Value) -> Value {
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": "websvc", "version": version } },
        "components": components(metadata),
    })
}

/// Returns the crates that the program contains, by name and version.
fn components(metadata: &Value) -> Vec<Value> {
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).filter_map(|package| Some((package["id"].as_str()?, package))).collect();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let program = packages.iter().find(|(_, package)| package["name"] == PROGRAM).map(|(id, _)| *id);
    let mut found: BTreeSet<&str> = program.into_iter().collect();
    let mut open: Vec<&str> = program.into_iter().collect();
    while let Some(id) = open.pop() {
        for dependency in nodes.get(id).into_iter().flat_map(|node| list(&node["deps"])) {
            let is_normal = list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
            if let Some(id) = dependency["pkg"].as_str().filter(|id| is_normal && found.insert(id)) {
                open.push(id);
            }
        }
    }
    let mut rows: Vec<Value> =
        found.iter().filter_map(|id| packages.get(id)).map(|package| component(package)).collect();
    rows.sort_by_key(|row| (row["name"].to_string(), row["version"].to_string()));
    rows
}

fn component(package: &Value) -> Value {
    let (name, version) = (&package["name"], &package["version"]);
    let purl =
        format!("pkg:cargo/{}@{}", name.as_str().unwrap_or_default(), version.as_str().unwrap_or_default());
    let mut component =
        json!({ "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl });
    if let Some(licence) = package["license"].as_str() {
        // Older crates separate alternatives by a slash.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    component
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_the_normal_dependencies_of_the_program() {
        let package =
            |name: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0" });
        let dependency = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [package(PROGRAM), package("a"), package("b"), package("build"), package("test")],
            "resolve": { "nodes": [
                { "id": PROGRAM, "deps": [dependency("a", Value::Null), dependency("build", json!("build")), dependency("test", json!("dev"))] },
                { "id": "a", "deps": [dependency("b", Value::Null)] },
                { "id": "b", "deps": [] },
            ] },
        });
        let found = components(&metadata);
        let names: Vec<&str> = found.iter().filter_map(|row| row["name"].as_str()).collect();
        assert_eq!(names, ["a", "b", PROGRAM]);
        assert_eq!(found[0]["purl"], "pkg:cargo/a@1.0.0");
        assert_eq!(found[0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
