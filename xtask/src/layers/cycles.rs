//! Cycles of modules: files of a crate that import each other, directly or through others.
//!
//! A path counts if it begins with `crate` or `super`. A module names its own submodules without these, so a submodule may
//! import from the module around it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::Result;

/// Crates with modules in cycles, and the number of these modules. It must not grow.
const ALLOWED: &[(&str, usize)] = &[
    ("websvc-browser", 2),
    ("websvc-monitor", 5),
    ("websvc-runs", 4),
    ("websvc-scrape", 11),
    ("websvc-server", 20),
    ("websvc-session", 4),
];

/// A module by the names of the modules around it and its own; empty for the root.
type Module = Vec<String>;

/// Returns a violation for each crate with more modules in cycles than allowed.
pub(super) fn check(crates: &Path) -> Result<Vec<String>> {
    let mut violations = Vec::new();
    for entry in fs::read_dir(crates)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let mut files = BTreeMap::new();
        if entry.path().join("src").is_dir() {
            read_files(&entry.path().join("src"), &[], &mut files)?;
        }
        let found = in_cycles(&files);
        let allowed = ALLOWED.iter().find(|(row, _)| *row == name).map_or(0, |(_, count)| *count);
        if found.len() > allowed {
            violations.push(format!(
                "{name}: {} modules import each other in cycles, at most {allowed} may: {}",
                found.len(),
                found.join(", ")
            ));
        }
    }
    Ok(violations)
}

/// Reads the source files below a directory, without those of tests.
fn read_files(dir: &Path, around: &[String], files: &mut BTreeMap<Module, String>) -> Result {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut module = around.to_vec();
        if name == "tests" {
            continue;
        }
        if !matches!(name.as_str(), "lib" | "main" | "mod") {
            module.push(name);
        }
        if path.is_dir() {
            read_files(&path, &module, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.insert(module, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// Returns the names of the modules that lead back to themselves.
fn in_cycles(files: &BTreeMap<Module, String>) -> Vec<String> {
    let imports: BTreeMap<&Module, BTreeSet<Module>> =
        files.iter().map(|(module, source)| (module, imports(module, source, files))).collect();
    let leads_back = |module: &&&Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![**module]);
        while let Some(next) = open.pop() {
            open.extend(imports[next].iter().filter(|import| seen.insert((*import).clone())));
        }
        seen.contains(**module)
    };
    imports.keys().filter(leads_back).map(|module| module.join("::")).collect()
}

/// Returns the modules of the crate that a module imports from.
fn imports(module: &Module, source: &str, files: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: String = source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let around = &module[..module.len().saturating_sub(1)];
    let mut found = BTreeSet::new();
    let mut add = |path: Module| {
        let mut lengths = (1..=path.len()).rev();
        found.extend(
            lengths.find_map(|length| files.get_key_value(&path[..length])).map(|(file, _)| file.clone()),
        );
    };
    for (keyword, start) in [("crate::", &module[..0]), ("super::", around)] {
        for (at, _) in code.match_indices(keyword).filter(|(at, _)| !code[..*at].ends_with("super::")) {
            add_paths(&code[at + keyword.len()..], start, &mut add);
        }
    }
    found.remove(module);
    found
}

/// Calls `add` with each path that a tree of imports has below `start`.
fn add_paths(tree: &str, start: &[String], add: &mut dyn FnMut(Module)) {
    let (mut path, mut rest) = (start.to_vec(), tree.trim_start());
    loop {
        if let Some(group) = rest.strip_prefix('{') {
            return parts(group).into_iter().for_each(|part| add_paths(part, &path, add));
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        match &rest[..end] {
            "super" => drop(path.pop()),
            name => path.push(name.to_owned()),
        }
        match rest[end..].strip_prefix("::") {
            Some(inner) => rest = inner,
            None => return add(path),
        }
    }
}

/// Returns the parts of a group in braces, up to its end.
fn parts(group: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        if depth == 0 && matches!(c, ',' | '}') {
            found.push(&group[start..at]);
            start = at + 1;
        }
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules_in_cycles(files: &[(&str, &str)]) -> Vec<String> {
        let module = |name: &str| name.split("::").map(str::to_owned).collect();
        in_cycles(&files.iter().map(|(name, source)| (module(name), (*source).to_owned())).collect())
    }

    #[test]
    fn modules_that_lead_back_to_themselves_are_found() {
        let found = modules_in_cycles(&[
            ("a", "use crate::{b::{self, c::X}, d};"),
            ("b", "//! It uses crate::a."),
            ("b::c", "use super::Y;\nuse super::super::e::f::Z;"),
            ("d", "fn f() { crate::e::g(1) }"),
            ("e", "use crate::a::W;"),
            ("f", "use crate::a::W;\n#[cfg(test)]\nmod tests {\n    use crate::f::V;\n}"),
        ]);
        assert_eq!(found, ["a", "b::c", "d", "e"]);
    }

    #[test]
    fn modules_in_layers_are_accepted() {
        let files = [
            ("a", "use crate::b::X;\nuse crate::b::c::Y;"),
            ("b", "mod c;\nuse c::Y;"),
            ("b::c", "use super::X;"),
        ];
        assert_eq!(modules_in_cycles(&files), Vec::<String>::new());
    }
}
