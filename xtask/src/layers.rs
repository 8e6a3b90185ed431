//! `cargo xtask layers`: checks the dependencies between crates, as reported by `cargo metadata`, against a table.
//!
//! The table is the same as in `docs/architecture.md`. Development dependencies may add the test kit and any
//! third-party crate, because tests do not belong to a layer.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, report, root};

/// A workspace crate and the workspace crates it may depend on.
struct Layer {
    name: &'static str,
    may_use: &'static [&'static str],
}

const fn layer(name: &'static str, may_use: &'static [&'static str]) -> Layer {
    Layer { name, may_use }
}

const LAYERS: &[Layer] = &[
    layer("websvc-stage", &[]),
    layer("websvc-types", &[]),
    layer("websvc-query", &[]),
    layer("websvc-address", &[]),
    layer("websvc-selector", &[]),
    layer("websvc-sitemap", &[]),
    layer("websvc-schedule", &[]),
    layer("websvc-validate", &["websvc-types", "websvc-query", "websvc-schedule", "websvc-selector"]),
    layer("websvc-transport", &["websvc-address"]),
    layer("websvc-otlp", &["websvc-stage", "websvc-transport"]),
    layer("websvc", &["websvc-types", "websvc-validate", "websvc-transport", "websvc-server"]),
    layer("websvc-extract", &["websvc-types", "websvc-selector"]),
    layer("websvc-branding", &["websvc-types", "websvc-extract"]),
    layer("websvc-documents", &[]),
    layer("websvc-redact", &[]),
    layer("websvc-diff", &[]),
    layer("websvc-index", &["websvc-query", "websvc-address", "websvc-stage"]),
    // It opens connections to database servers through the transport.
    layer("websvc-store", &["websvc-transport"]),
    layer("websvc-blocklist", &["websvc-address"]),
    layer("websvc-webhook", &["websvc-transport"]),
    layer("websvc-notify", &["websvc-transport"]),
    layer("websvc-audit", &["websvc-transport", "websvc-webhook"]),
    layer("websvc-artifacts", &["websvc-store", "websvc-transport"]),
    layer("websvc-browser", &["websvc-transport"]),
    // Its connection to the browser is a trait, which the sessions implement.
    layer("websvc-sandbox", &[]),
    layer("websvc-threat", &["websvc-types", "websvc-validate", "websvc-transport"]),
    layer("websvc-model", &["websvc-transport"]),
    // The page is a trait, which the sessions implement.
    layer("websvc-page-agent", &["websvc-model", "websvc-transport"]),
    // The tools are a trait, which the runs implement.
    layer("websvc-agent", &["websvc-extract", "websvc-model", "websvc-transport"]),
    layer(
        "websvc-scrape",
        &[
            "websvc-types",
            "websvc-validate",
            "websvc-transport",
            "websvc-extract",
            "websvc-branding",
            "websvc-documents",
            "websvc-redact",
            "websvc-stage",
            "websvc-store",
            "websvc-artifacts",
            "websvc-blocklist",
            "websvc-browser",
            "websvc-threat",
        ],
    ),
    layer(
        "websvc-engine",
        // It needs the query for categories and for the requests to sources. It needs the guarded HTTP client because
        // remote sources are fetched directly: the rules for pages (cache, robots, extraction) do not apply to them.
        &[
            "websvc-types",
            "websvc-query",
            "websvc-address",
            "websvc-validate",
            // The passages of the markdown for a language model.
            "websvc-extract",
            "websvc-transport",
            "websvc-index",
            "websvc-sitemap",
            "websvc-branding",
            "websvc-diff",
            "websvc-redact",
            "websvc-scrape",
            "websvc-stage",
            "websvc-store",
            "websvc-artifacts",
            "websvc-threat",
            "websvc-model",
        ],
    ),
    layer(
        "websvc-jobs",
        &[
            "websvc-types",
            "websvc-address",
            "websvc-validate",
            "websvc-scrape",
            "websvc-stage",
            "websvc-store",
            "websvc-artifacts",
            "websvc-engine",
            "websvc-transport",
            "websvc-webhook",
        ],
    ),
    layer(
        "websvc-monitor",
        &[
            "websvc-types",
            "websvc-schedule",
            "websvc-diff",
            "websvc-validate",
            "websvc-transport",
            "websvc-scrape",
            "websvc-stage",
            "websvc-store",
            "websvc-artifacts",
            "websvc-threat",
            "websvc-model",
            "websvc-engine",
            "websvc-jobs",
            "websvc-webhook",
            "websvc-notify",
        ],
    ),
    layer(
        "websvc-session",
        &[
            "websvc-types",
            "websvc-validate",
            "websvc-transport",
            "websvc-sandbox",
            // For the errors of models in tests only.
            "websvc-model",
            "websvc-page-agent",
            "websvc-scrape",
            "websvc-stage",
            "websvc-store",
            "websvc-artifacts",
            "websvc-browser",
            "websvc-engine",
        ],
    ),
    layer(
        "websvc-runs",
        &[
            "websvc-types",
            "websvc-address",
            "websvc-validate",
            "websvc-transport",
            "websvc-stage",
            "websvc-store",
            "websvc-model",
            "websvc-agent",
            // For pages in the browser in tests only.
            "websvc-browser",
            "websvc-scrape",
            "websvc-threat",
            "websvc-webhook",
            "websvc-engine",
            "websvc-jobs",
            "websvc-session",
        ],
    ),
    layer("websvc-server", JOBS_AND_BELOW),
    layer("websvc-cli", &EVERYTHING),
    layer("websvc-testkit", &EVERYTHING),
    layer("xtask", &["websvc-types"]),
];

const JOBS_AND_BELOW: &[&str] = &[
    "websvc-runs",
    "websvc-branding",
    "websvc-sandbox",
    "websvc-diff",
    "websvc-notify",
    "websvc-jobs",
    "websvc-stage",
    "websvc-blocklist",
    "websvc-types",
    "websvc-query",
    "websvc-address",
    "websvc-selector",
    "websvc-sitemap",
    "websvc-schedule",
    "websvc-validate",
    "websvc-transport",
    "websvc-extract",
    "websvc-documents",
    "websvc-redact",
    "websvc-index",
    "websvc-store",
    "websvc-artifacts",
    "websvc-audit",
    "websvc-browser",
    "websvc-threat",
    "websvc-model",
    "websvc-monitor",
    "websvc-scrape",
    "websvc-session",
    "websvc-engine",
];

const EVERYTHING: [&str; 33] = [
    "websvc-branding",
    "websvc-sandbox",
    "websvc-session",
    "websvc-notify",
    "websvc-diff",
    "websvc-webhook",
    "websvc-model",
    "websvc-monitor",
    "websvc-jobs",
    "websvc-audit",
    "websvc-stage",
    "websvc-otlp",
    "websvc-threat",
    "websvc-blocklist",
    "websvc",
    "websvc-types",
    "websvc-query",
    "websvc-address",
    "websvc-selector",
    "websvc-sitemap",
    "websvc-schedule",
    "websvc-validate",
    "websvc-transport",
    "websvc-extract",
    "websvc-documents",
    "websvc-redact",
    "websvc-index",
    "websvc-store",
    "websvc-artifacts",
    "websvc-browser",
    "websvc-scrape",
    "websvc-engine",
    "websvc-server",
];

/// Third-party crates and the only workspace crates that may depend on them directly.
const RESERVED: &[(&[&str], &[&str])] = &[
    (&["hyper", "hyper-util", "http-body-util", "rustls", "tokio-rustls"], &["websvc-transport"]),
    (&["schemars"], &["websvc-types", "xtask"]),
    (&["tantivy"], &["websvc-index"]),
    (&["cssparser"], &["websvc-selector"]),
    (&["lettre"], &["websvc-notify"]),
    (&["rusqlite"], &["websvc-store"]),
    (&["adblock"], &["websvc-blocklist"]),
    (&["rquickjs"], &["websvc-sandbox"]),
    (&["object_store"], &["websvc-artifacts"]),
];

/// Crates that must not depend on tokio, directly or indirectly.
const WITHOUT_TOKIO: &[&str] = &[
    "websvc-types",
    "websvc-query",
    "websvc-address",
    "websvc-selector",
    "websvc-sitemap",
    "websvc-schedule",
    "websvc-validate",
    "websvc-extract",
    "websvc-documents",
    "websvc-redact",
    "websvc-branding",
    "websvc-diff",
    "websvc-index",
    "websvc-blocklist",
];

const TEST_KIT: &str = "websvc-testkit";

pub(crate) fn run() -> Result {
    let output = run_command(cargo().args(["metadata", "--format-version", "1"]).current_dir(root()))?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    report("layers", &check(&metadata))
}

/// Returns all violations, each with the crate and the rule.
fn check(metadata: &Value) -> Vec<String> {
    let members: BTreeSet<&str> = list(&metadata["workspace_members"]).filter_map(Value::as_str).collect();
    let packages: Vec<Package> = list(&metadata["packages"])
        .filter(|package| members.contains(text(&package["id"])))
        .map(Package::from_metadata)
        .collect();
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

fn check_layer(package: &Package<'_>, members: &BTreeSet<&str>, violations: &mut Vec<String>) {
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == package.name) else {
        violations.push(format!("{}: not in the table of layers in xtask/src/layers.rs", package.name));
        return;
    };
    for dependency in package.dependencies.iter().filter(|dependency| members.contains(dependency.name)) {
        let allowed = layer.may_use.contains(&dependency.name);
        let is_test_only =
            dependency.is_dev && (dependency.name == TEST_KIT || dependency.name == package.name);
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

fn list(value: &Value) -> impl Iterator<Item = &Value> {
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
            ["websvc-novelty: not in the table of layers in xtask/src/layers.rs"]
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
