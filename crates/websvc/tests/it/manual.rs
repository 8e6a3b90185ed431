//! Tests of the page of the manual about the client.

use std::path::Path;

/// Returns the public methods of the client.
fn methods() -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for block in text.split("\nimpl Client {\n").skip(1) {
            for line in block.split("\n}\n").next().unwrap().lines() {
                let function =
                    line.strip_prefix("    pub async fn ").or_else(|| line.strip_prefix("    pub fn "));
                let Some(function) = function else { continue };
                found.push(function.split(['(', '<']).next().unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn manual_names_every_method_of_the_client() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let page = std::fs::read_to_string(page).unwrap();
    let methods = methods();
    assert!(methods.len() > 30, "{methods:?}");
    let is_named = |name: &String| {
        [format!("`{name}`"), format!("`{name}("), format!("::{name}(")]
            .iter()
            .any(|form| page.contains(form))
    };
    let missing: Vec<_> = methods.iter().filter(|name| !is_named(name)).collect();
    assert!(missing.is_empty(), "docs/clients.md does not name {missing:?}");
}
