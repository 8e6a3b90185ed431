//! The manifests of the crates that can be published: what a registry needs, and dependencies that it has.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{list, text};

/// The crates for other programs, which people find by keyword and read about on a page of their own. The others are parts of them.
const FOR_OTHERS: [&str; 2] = ["websvc", "websvc-types"];

/// Returns the violations in the manifests of the packages of the workspace.
pub(super) fn check<'a>(packages: impl Iterator<Item = &'a Value> + Clone) -> Vec<String> {
    // `publish` lists the registries: none if it is an empty list, any if it is null.
    let is_published = |package: &&Value| package["publish"].as_array().is_none_or(|names| !names.is_empty());
    let published: BTreeSet<&str> =
        packages.clone().filter(is_published).map(|package| text(&package["name"])).collect();
    let mut violations = Vec::new();
    for package in packages.filter(is_published) {
        let name = text(&package["name"]);
        let needed: &[&str] = match FOR_OTHERS.contains(&name) {
            true => &["description", "license", "readme", "keywords", "categories"],
            false => &["description", "license"],
        };
        for field in needed {
            let value = &package[*field];
            if text(value).is_empty() && value.as_array().is_none_or(Vec::is_empty) {
                violations
                    .push(format!("{name}: its Cargo.toml has no {field}, which a published crate needs"));
            }
        }
        for dependency in list(&package["dependencies"]).filter(|dependency| dependency["path"].is_string()) {
            violations.extend(check_dependency(name, dependency, &published));
        }
    }
    violations
}

/// Returns the violation of a published crate that depends on a crate of the workspace. Cargo leaves a dependency of tests without
/// a version out of the package.
fn check_dependency(name: &str, dependency: &Value, published: &BTreeSet<&str>) -> Option<String> {
    let (other, has_version) = (text(&dependency["name"]), dependency["req"] != "*");
    let rule = match (dependency["kind"] == "dev", has_version) {
        (true, false) => return None,
        (true, true) if other == name => "its tests depend on itself: leave out the version",
        (false, false) => "a dependency of a published crate needs a version",
        (_, true) if published.contains(other) => return None,
        (_, true) => "it is not published: set publish, or remove the dependency",
    };
    Some(format!("{name}: {other}: {rule}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks the violations of a published crate `a` with a dependency, next to the published `b` and the private `c`.
    #[track_caller]
    fn check_with(name: &str, kind: Option<&str>, req: &str, expected: &[&str]) {
        let dependency = json!({ "name": name, "kind": kind, "req": req, "path": "/x" });
        let package = |name: &str, publish: Value, dependencies: Value| {
            json!({ "name": name, "publish": publish, "description": "A crate", "license": "MIT",
                "dependencies": dependencies })
        };
        let packages = [
            package("a", Value::Null, json!([dependency])),
            package("b", Value::Null, json!([])),
            package("c", json!([]), json!([{ "name": "a", "kind": null, "req": "*", "path": "/x" }])),
        ];
        assert_eq!(check(packages.iter()), expected);
    }

    #[test]
    fn dependencies_of_published_crates_are_published_and_have_a_version() {
        check_with("b", None, "^0.1.0", &[]);
        check_with("b", None, "*", &["a: b: a dependency of a published crate needs a version"]);
        check_with(
            "c",
            None,
            "^0.1.0",
            &["a: c: it is not published: set publish, or remove the dependency"],
        );
        check_with("c", Some("dev"), "*", &[]);
        check_with("a", Some("dev"), "^0.1.0", &["a: a: its tests depend on itself: leave out the version"]);
    }

    #[test]
    fn crates_for_others_need_what_people_look_for() {
        let package = json!({ "name": "websvc", "publish": null, "description": "", "license": "MIT",
            "readme": "README.md", "keywords": [], "categories": ["api-bindings"], "dependencies": [] });
        let missing = ["description", "keywords"]
            .map(|field| format!("websvc: its Cargo.toml has no {field}, which a published crate needs"));
        assert_eq!(check([package].iter()), missing);
    }
}
