//! `cargo xtask tidy`: rules for files that neither the compiler nor clippy knows.

mod doctests;
mod links;
mod log_lines;
mod prose;
mod rust_text;
mod words;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::debian::run as run_command;
use crate::{Result, report, root};

const MAX_LINES: usize = 500;
const MAX_BYTES: u64 = 1024 * 1024;

/// Names allowed in the root of the repository, in addition to files that begin with a dot.
const TOP_LEVEL: &[&str] = &["Cargo.toml", "Cargo.lock", "README.md", "crates", "xtask", "docs"];
const LICENSE_PREFIX: &str = "LICENSE";

/// Files that people write and others read.
const SOURCES: &[&str] = &["rs", "py", "sh", "sql", "js", "css"];
/// Files in which a mark of unfinished work can hide.
const TEXTS: &[&str] = &["rs", "py", "sh", "sql", "js", "css", "toml", "md", "yml", "yaml"];
/// The name of folders of pages and texts from other sources. The rules do not apply to their content.
const FIXTURES: &str = "fixtures";

/// Marks of unfinished work. Put together here, so that this file does not find itself.
const UNFINISHED: &[&str] = &[
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
    concat!("#[", "ignore"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

/// Beginnings of paths that exist on one machine only.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];

pub(crate) fn run() -> Result {
    report("tidy", &check(root())?)
}

/// Checks all files of the repository that git tracks or would track.
fn check(root: &Path) -> Result<Vec<String>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    let output = run_command(Command::new("git").args(list).current_dir(root))?;
    let names = String::from_utf8(output.stdout)?;
    let (mut violations, mut doctests) = (Vec::new(), doctests::Doctests::default());
    for name in names.split_terminator('\0') {
        // Deleted files are listed until the next commit.
        let Ok(metadata) = fs::symlink_metadata(root.join(name)) else { continue };
        check_place(name, &mut violations);
        if metadata.len() > MAX_BYTES {
            violations.push(format!("{name}:1: has {} bytes, more than 1 MiB", metadata.len()));
        } else if metadata.is_file()
            && let Ok(text) = String::from_utf8(fs::read(root.join(name))?)
        {
            check_text(name, &text, &mut violations);
            links::check(root, name, &text, &mut violations);
            prose::check(name, &text, &mut violations);
            log_lines::check(name, &text, &mut violations);
            doctests.read(name, &text);
            if !name.split('/').any(|part| part == FIXTURES) {
                words::check(name, &text, &mut violations);
            }
        }
    }
    doctests.check(&mut violations);
    Ok(violations)
}

fn check_place(name: &str, violations: &mut Vec<String>) {
    let top = name.split('/').next().unwrap_or(name);
    if !TOP_LEVEL.contains(&top) && !top.starts_with(LICENSE_PREFIX) && !top.starts_with('.') {
        violations.push(format!("{name}:1: \"{top}\" does not belong into the root of the repository"));
    }
}

fn check_text(name: &str, text: &str, violations: &mut Vec<String>) {
    if name.split('/').any(|part| part == FIXTURES) {
        return;
    }
    let extension = extension(name);
    let lines = text.lines().count();
    if SOURCES.contains(&extension) && lines > MAX_LINES {
        violations.push(format!("{name}:{MAX_LINES}: has {lines} lines, more than {MAX_LINES}"));
    }
    if extension == "rs" && !text.starts_with("//!") {
        violations.push(format!("{name}:1: does not begin with \"//!\" and a sentence"));
    }
    if TEXTS.contains(&extension) {
        check_words(name, text, violations);
    }
    if name.ends_with("src/lib.rs") {
        check_lib(name, text, violations);
    }
}

fn check_words(name: &str, text: &str, violations: &mut Vec<String>) {
    for (number, line) in (1..).zip(text.lines()) {
        for word in UNFINISHED.iter().filter(|word| has_word(line, word)) {
            violations.push(format!("{name}:{number}: \"{word}\" marks unfinished work"));
        }
        for path in MACHINE_PATHS.iter().filter(|path| has_path(line, path)) {
            violations.push(format!("{name}:{number}: a path under \"{path}\" exists on one machine only"));
        }
    }
}

/// Returns whether the line contains `word` at word boundaries.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    })
}

/// Returns whether the line contains an absolute path with this prefix; paths of URLs do not count.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path)
        .any(|(at, _)| line[..at].chars().next_back().is_none_or(|c| " \t\"'`=(<[".contains(c)))
}

/// Checks that a `lib.rs` holds docs, attributes, `mod` and `use` only.
fn check_lib(name: &str, text: &str, violations: &mut Vec<String>) {
    let mut statement = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if statement.is_empty() && (line.is_empty() || line.starts_with("//")) {
            continue;
        }
        statement.push_str(line);
        statement.push(' ');
        let is_attribute = statement.starts_with('#');
        let is_item =
            ["mod ", "use ", "extern crate "].iter().any(|item| without_pub(&statement).starts_with(item));
        if !is_attribute && !is_item {
            violations.push(format!("{name}:{number}: lib.rs holds docs, mod and use only"));
            return;
        }
        if is_item && statement.contains("mod ") && statement.contains('{') {
            violations.push(format!("{name}:{number}: lib.rs holds no module bodies"));
            return;
        }
        if line.ends_with(if is_attribute { ']' } else { ';' }) {
            statement.clear();
        }
    }
}

fn without_pub(statement: &str) -> &str {
    let Some(rest) = statement.strip_prefix("pub") else { return statement };
    let rest = if rest.starts_with('(') { rest.split_once(')').map_or(rest, |(_, rest)| rest) } else { rest };
    rest.trim_start()
}

fn extension(name: &str) -> &str {
    Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        let mut violations = Vec::new();
        check_place(name, &mut violations);
        check_text(name, text, &mut violations);
        violations
    }

    const GOOD: &str = "//! Says what it is for.\n\nfn f() {}\n";

    #[test]
    fn a_proper_file_has_no_violation() {
        assert_eq!(found("crates/a/src/b.rs", GOOD), Vec::<String>::new());
    }

    #[test]
    fn a_source_without_a_sentence_is_named() {
        let expected = ["crates/a/src/b.rs:1: does not begin with \"//!\" and a sentence"];
        assert_eq!(found("crates/a/src/b.rs", "fn f() {}\n"), expected);
    }

    #[test]
    fn lines_are_counted_up_to_the_limit() {
        let text = |lines: usize| format!("//! x\n{}", "\n".repeat(lines - 1));
        assert_eq!(found("crates/a.rs", &text(500)), Vec::<String>::new());
        assert_eq!(found("crates/a.rs", &text(501)), ["crates/a.rs:500: has 501 lines, more than 500"]);
        assert_eq!(found("docs/openapi.json", &text(5000)), Vec::<String>::new());
    }

    #[test]
    fn unfinished_work_is_found_where_it_stands() {
        let fixme = concat!("FIX", "ME");
        let text = format!("{GOOD}// {fixme} later\nlet {fixme}S = 1;\n");
        let expected = [format!("crates/a.rs:4: \"{fixme}\" marks unfinished work")];
        assert_eq!(found("crates/a.rs", &text), expected);
        let skipped = format!("{GOOD}{} = \"slow\"]\n", concat!("#[", "ignore"));
        assert_eq!(found("crates/a.rs", &skipped).len(), 1);
        assert_eq!(found("crates/a/tests/fixtures/page.md", &text), Vec::<String>::new());
    }

    #[test]
    fn paths_of_machines_are_found_and_paths_of_urls_are_not() {
        let home = concat!("/ho", "me/");
        assert_eq!(found("docs/a.md", &format!("run {home}me/websvc\n")).len(), 1);
        assert_eq!(found("docs/a.md", &format!("{home}me/websvc\n")).len(), 1);
        assert_eq!(found("docs/a.md", &format!("see http://a.test{home}page\n")), Vec::<String>::new());
    }

    #[test]
    fn only_known_entries_lie_in_the_root() {
        for name in ["Cargo.toml", "LICENSE-MIT", ".ci/run", "crates/a/b.txt", "docs/x.png"] {
            assert_eq!(found(name, ""), Vec::<String>::new(), "{name}");
        }
        let expected = ["notes.txt:1: \"notes.txt\" does not belong into the root of the repository"];
        assert_eq!(found("notes.txt", ""), expected);
    }

    #[test]
    fn a_lib_file_of_declarations_is_accepted() {
        let text = "//! Docs.\n#![deny(\n    missing_docs,\n)]\n\nmod a;\n/// Docs.\n#[cfg(unix)]\npub mod b;\n\
                    pub use a::{\n    One,\n    Two,\n};\npub(crate) use b::c;\n";
        assert_eq!(found("crates/a/src/lib.rs", text), Vec::<String>::new());
    }

    #[test]
    fn code_in_a_lib_file_is_named() {
        for (code, rule) in [
            ("pub fn f() {}", "lib.rs holds docs, mod and use only"),
            ("const A: u8 = 1;", "lib.rs holds docs, mod and use only"),
            ("mod tests { }", "lib.rs holds no module bodies"),
            ("macro_rules! m { () => {} }", "lib.rs holds docs, mod and use only"),
        ] {
            let text = format!("//! Docs.\nmod a;\n{code}\n");
            assert_eq!(found("crates/a/src/lib.rs", &text), [format!("crates/a/src/lib.rs:3: {rule}")]);
        }
    }
}
