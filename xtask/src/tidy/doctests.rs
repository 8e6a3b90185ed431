//! The rule for documentation tests: only the libraries that have some run them, because each costs a run of rustdoc.

use std::collections::BTreeSet;

const SETTING: &str = "doctest = false";

/// Names of packages: those with code in their documentation, those that are libraries, and those without such tests.
#[derive(Default)]
pub(super) struct Doctests {
    with_code: BTreeSet<String>,
    libraries: BTreeSet<String>,
    turned_off: BTreeSet<String>,
}

impl Doctests {
    /// Reads a file of the repository.
    pub(super) fn read(&mut self, name: &str, text: &str) {
        let Some((package, path)) = name.strip_prefix("crates/").and_then(|rest| rest.split_once('/')) else {
            return;
        };
        match path {
            "Cargo.toml" if text.contains(SETTING) => drop(self.turned_off.insert(package.to_owned())),
            "src/lib.rs" => drop(self.libraries.insert(package.to_owned())),
            _ => {}
        }
        let is_fence =
            |line: &str| ["/// ```", "//! ```"].iter().any(|fence| line.trim_start().starts_with(fence));
        if path.starts_with("src/") && path.ends_with(".rs") && text.lines().any(is_fence) {
            self.with_code.insert(package.to_owned());
        }
    }

    /// Reports libraries whose setting does not match their documentation.
    pub(super) fn check(&self, violations: &mut Vec<String>) {
        for package in &self.libraries {
            let message = match (self.with_code.contains(package), self.turned_off.contains(package)) {
                (true, true) => format!("has \"{SETTING}\", but code in its documentation"),
                (false, false) => format!("needs \"{SETTING}\", as its documentation has no code"),
                _ => continue,
            };
            violations.push(format!("crates/{package}/Cargo.toml:1: {message}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(manifest: &str, library: &str) -> Vec<String> {
        let mut doctests = Doctests::default();
        doctests.read("crates/a/Cargo.toml", manifest);
        doctests.read("crates/a/src/lib.rs", library);
        let mut violations = Vec::new();
        doctests.check(&mut violations);
        violations
    }

    #[test]
    fn setting_matches_the_documentation() {
        let (off, code) = ("[lib]\ndoctest = false\n", "/// Example:\n/// ```\n/// a();\n/// ```\n");
        assert!(violations(off, "//! Text.\n").is_empty() && violations("", code).is_empty());
        assert!(violations(off, code)[0].contains("but code"));
        assert!(violations("", "//! Text.\n")[0].contains("needs"));
    }
}
