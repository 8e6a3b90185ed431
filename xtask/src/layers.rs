//! `cargo xtask layers`: checks the dependencies between crates, as reported by `cargo metadata`, against a table, that crates can be
//! published, and that no more modules of a crate import each other in cycles than before.
//!
//! The table is the same as in `docs/architecture.md`. Development dependencies may add the test kit and any
//! third-party crate, because tests do not belong to a layer.

mod cycles;
mod published;
mod table;

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, report, root};
use table::LAYERS;

/// Third-party crates and the only workspace crates that may depend on them directly.
const RESERVED: &[(&[&str], &[&str])] = &[
    (&["hyper", "hyper-util", "http-body-util", "rustls", "tokio-rustls"], &["websvc-transport"]),
    (&["schemars"], &["websvc-types", "xtask"]),
    (&["tantivy"], &["websvc-index"]),
    (&["cssparser"], &["websvc-selector"]),
    (&["lettre"], &["websvc-notify"]),
    (&["rusqlite"], &["websvc-store"]),
    (&["adblock"], &["websvc-scrape"]),
    (&["rquickjs"], &["websvc-sandbox"]),
    (&["ndarray"], &["websvc-embed"]),
];

/// Crates that must not depend on tokio, directly or indirectly.
const WITHOUT_TOKIO: &[&str] = &[
    "websvc-types",
    "websvc-query",
    "websvc-site",
    "websvc-selector",
    "websvc-schedule",
    "websvc-validate",
    "websvc-extract",
    "websvc-documents",
    "websvc-embed",
    "websvc-redact",
    "websvc-branding",
    "websvc-diff",
    "websvc-index",
];

const TEST_CRATES: [&str; 2] = ["websvc-testkit", "websvc-evaluation"];

pub(crate) fn run() -> Result {
    let output = run_command(cargo().args(["metadata", "--format-version", "1"]).current_dir(root()))?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut violations = check(&metadata);
    violations.extend(published::check(members(&metadata)));
    violations.extend(cycles::check(&root().join("crates"))?);
    report("layers", &violations)
}

/// Returns all violations, each with the crate and the rule.
fn check(metadata: &Value) -> Vec<String> {
    let packages: Vec<Package> = members(metadata).map(Package::from_metadata).collect();
    let names: BTreeSet<&str> = packages.iter().map(|package| package.name).collect();
    let graph = normal_edges(metadata);
    let mut violations = Vec::new();
    for package in &packages {
        check_layer(package, &names, &mut violations);
        check_reserved(package, &mut violations);
        if WITHOUT_TOKIO.contains(&package.name)
            && let Some(path) = path_to("tokio", package.id, &graph)
        {
            violations.push(format!("{}: must not depend on tokio: {path}", package.name));
        }
    }
    violations
}

/// Returns the packages of the workspace.
fn members(metadata: &Value) -> impl Iterator<Item = &Value> + Clone {
    let is_member = |package: &&Value| list(&metadata["workspace_members"]).any(|id| *id == package["id"]);
    list(&metadata["packages"]).filter(is_member)
}

fn check_layer(package: &Package<'_>, members: &BTreeSet<&str>, violations: &mut Vec<String>) {
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == package.name) else {
        violations.push(format!("{}: not in the table of layers in xtask/src/layers/table.rs", package.name));
        return;
    };
    for dependency in package.dependencies.iter().filter(|dependency| members.contains(dependency.name)) {
        let allowed = layer.may_use.contains(&dependency.name);
        let is_test_only =
            dependency.is_dev && (TEST_CRATES.contains(&dependency.name) || dependency.name == package.name);
        if !allowed && !is_test_only {
            let may_use = if layer.may_use.is_empty() { "none".to_owned() } else { layer.may_use.join(", ") };
            violations.push(format!(
                "{}: must not depend on {}; allowed workspace crates: {may_use}",
                package.name, dependency.name
            ));
        }
    }
}

fn check_reserved(package: &Package<'_>, violations: &mut Vec<String>) {
    for dependency in package.dependencies.iter().filter(|dependency| !dependency.is_dev) {
        for (reserved, owners) in RESERVED {
            if reserved.contains(&dependency.name) && !owners.contains(&package.name) {
                violations.push(format!(
                    "{}: must not depend on {}, which is reserved for {}",
                    package.name,
                    dependency.name,
                    owners.join(" and ")
                ));
            }
        }
    }
}

/// A workspace crate with the direct dependencies in its manifest.
struct Package<'a> {
    id: &'a str,
    name: &'a str,
    dependencies: Vec<Dependency<'a>>,
}

struct Dependency<'a> {
    name: &'a str,
    is_dev: bool,
}

impl<'a> Package<'a> {
    fn from_metadata(package: &'a Value) -> Self {
        let dependencies = list(&package["dependencies"])
            .map(|dependency| Dependency {
                name: text(&dependency["name"]),
                is_dev: dependency["kind"] == "dev",
            })
            .collect();
        Self { id: text(&package["id"]), name: text(&package["name"]), dependencies }
    }
}

/// Packages by ID: the name of each and the IDs of its dependencies.
type Graph<'a> = HashMap<&'a str, (&'a str, Vec<&'a str>)>;

/// Returns the resolved dependency graph without development dependencies.
fn normal_edges(metadata: &Value) -> Graph<'_> {
    let mut graph: Graph<'_> =
        list(&metadata["packages"]).map(|p| (text(&p["id"]), (text(&p["name"]), Vec::new()))).collect();
    for node in list(&metadata["resolve"]["nodes"]) {
        let edges = list(&node["deps"])
            .filter(|edge| list(&edge["dep_kinds"]).any(|kind| kind["kind"] != "dev"))
            .map(|edge| text(&edge["pkg"]));
        if let Some((_, dependencies)) = graph.get_mut(text(&node["id"])) {
            dependencies.extend(edges);
        }
    }
    graph
}

/// Returns a dependency path from the package to a package with this name, as "a > b > c".
fn path_to(name: &str, from: &str, graph: &Graph<'_>) -> Option<String> {
    let mut seen = BTreeSet::from([from]);
    let mut paths = vec![(from, String::new())];
    while let Some((id, path)) = paths.pop() {
        let (package, edges) = graph.get(id)?;
        let path = if path.is_empty() { (*package).to_owned() } else { format!("{path} > {package}") };
        if *package == name {
            return Some(path);
        }
        paths.extend(edges.iter().copied().filter(|edge| seen.insert(edge)).map(|edge| (edge, path.clone())));
    }
    None
}

fn list(value: &Value) -> impl Iterator<Item = &Value> + Clone {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Builds workspace metadata from crates and the names of their dependencies; `*` marks a development dependency.
    fn metadata(members: &[(&str, &[&str])], others: &[(&str, &[&str])]) -> Value {
        let bare = |name: &str| name.trim_end_matches('*').to_owned();
        let kind = |name: &str| if name.ends_with('*') { json!("dev") } else { Value::Null };
        let packages: Vec<Value> = members
            .iter()
            .chain(others)
            .map(|(name, dependencies)| {
                let dependencies: Vec<Value> =
                    dependencies.iter().map(|name| json!({"name": bare(name), "kind": kind(name)})).collect();
                json!({"id": name, "name": name, "dependencies": dependencies})
            })
            .collect();
        let nodes: Vec<Value> = members
            .iter()
            .chain(others)
            .map(|(name, dependencies)| {
                let deps: Vec<Value> = dependencies
                    .iter()
                    .map(|name| json!({"pkg": bare(name), "dep_kinds": [{"kind": kind(name)}]}))
                    .collect();
                json!({"id": name, "deps": deps})
            })
            .collect();
        let members: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
        json!({"workspace_members": members, "packages": packages, "resolve": {"nodes": nodes}})
    }

    fn violations(members: &[(&str, &[&str])]) -> Vec<String> {
        check(&metadata(
            members,
            &[("bytes", &[]), ("hyper", &["tokio"]), ("tokio", &[]), ("glue", &["tokio"])],
        ))
    }

    #[test]
    fn allowed_dependencies_are_accepted() {
        let found = violations(&[
            ("websvc-types", &["bytes"]),
            ("websvc-query", &["tokio*", "websvc-testkit*"]),
            ("websvc-validate", &["websvc-types", "websvc-query"]),
            ("websvc-transport", &["hyper", "tokio"]),
            ("websvc-testkit", &["websvc-transport"]),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn dependency_on_disallowed_crate_is_reported() {
        let found = violations(&[("websvc-types", &[]), ("websvc-query", &["websvc-types"])]);
        assert_eq!(found, ["websvc-query: must not depend on websvc-types; allowed workspace crates: none"]);
    }

    #[test]
    fn reserved_crate_is_reported_with_its_owner() {
        let found = violations(&[("websvc-server", &["hyper"]), ("websvc-cli", &["hyper*"])]);
        assert_eq!(
            found,
            ["websvc-server: must not depend on hyper, which is reserved for websvc-transport"]
        );
    }

    #[test]
    fn indirect_dependency_on_tokio_is_reported() {
        let found = violations(&[("websvc-redact", &["bytes", "glue"])]);
        assert_eq!(found, ["websvc-redact: must not depend on tokio: websvc-redact > glue > tokio"]);
    }

    #[test]
    fn crate_without_row_is_reported() {
        assert_eq!(
            violations(&[("websvc-novelty", &[])]),
            ["websvc-novelty: not in the table of layers in xtask/src/layers/table.rs"]
        );
    }

    #[test]
    fn every_allowed_dependency_has_a_row() {
        for layer in LAYERS {
            for used in layer.may_use {
                assert!(LAYERS.iter().any(|row| row.name == *used), "{}: {used}", layer.name);
            }
        }
    }
}
