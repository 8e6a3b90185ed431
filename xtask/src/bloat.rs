//! `cargo xtask bloat`: prints the code size of the program by crate and by function, and checks its size budgets.
//!
//! It builds the profile `dist` with symbols, which takes as long as a release build, and reads the symbols with `nm`.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, root};

/// Maximum number of crates in the normal dependency tree of the program. Each crate slows down every clean build. A
/// commit that raises this must explain what the new crate is for and why no existing crate can do it.
const MAX_CRATES: usize = 414;

/// Maximum number of crates in the normal dependency tree of the client with its default features. A program that uses the client
/// builds them all.
const MAX_CLIENT_CRATES: usize = 86;

/// Maximum size of the stripped program, in bytes. A commit that raises this must explain the growth, with the
/// difference that `cargo xtask bloat` shows, and update the size in docs/benchmarks.md.
const MAX_PROGRAM_BYTES: u64 = 42_000_000;

/// Maximum number of rows in each table.
const MAX_ROWS: usize = 40;

/// A function of the program and its code size.
struct Function {
    name: String,
    bytes: u64,
}

/// Checks the numbers of crates against the budgets. Needs no build.
pub(crate) fn check_crates() -> Result {
    for (package, budget, max) in
        [("websvc-cli", "MAX_CRATES", MAX_CRATES), ("websvc", "MAX_CLIENT_CRATES", MAX_CLIENT_CRATES)]
    {
        let count = count_crates(package)?;
        if count > max {
            return Err(format!(
                "budget: {package} depends on {count} crates, and the maximum is {max}: remove one, or raise {budget} in \
                 xtask/src/bloat.rs and explain why in the commit message"
            )
            .into());
        }
        println!("budget: ok, {package} has {count} of {max} crates");
    }
    Ok(())
}

/// Returns the number of crates in the normal dependency tree of a package with its default features.
fn count_crates(package: &str) -> Result<usize> {
    let output = cargo()
        .args(["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        // The target is fixed so that the tree is the same on every machine.
        .args(["--target", "x86_64-unknown-linux-gnu"])
        // With this setting of a developer, all features that any package uses would be on.
        .env_remove("CARGO_RESOLVER_FEATURE_UNIFICATION")
        .current_dir(root())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let text = String::from_utf8(output.stdout)?;
    let crates: BTreeSet<(&str, &str)> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?))
        })
        .collect();
    Ok(crates.len())
}

/// Builds the program, prints the tables and checks the size against the budget.
pub(crate) fn run() -> Result {
    let folder = root().join("target/bloat");
    let mut build = cargo();
    build.args(["build", "--profile", "dist", "--package", "websvc-cli", "--bin", "websvc", "--target-dir"]);
    run_command(
        build
            .arg(&folder)
            .args(["--config", "profile.dist.package.websvc-cli.strip=false"])
            .current_dir(root()),
    )?;
    let program = folder.join("dist/websvc");
    let functions = read_functions(&program)?;
    print_table("crate", &sizes_by_crate(&functions));
    let mut largest: Vec<(String, u64)> =
        functions.into_iter().map(|function| (function.name, function.bytes)).collect();
    largest.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    print_table("function", &largest);
    check_size(&program, &folder.join("stripped"))
}

/// Strips the program and checks its size against the budget.
fn check_size(program: &Path, stripped: &Path) -> Result {
    run_command(Command::new("strip").arg("-o").arg(stripped).arg(program))?;
    let bytes = fs::metadata(stripped)?.len();
    println!("\nprogram: {:.1} MB of {:.1} MB", mb(bytes), mb(MAX_PROGRAM_BYTES));
    if bytes > MAX_PROGRAM_BYTES {
        return Err(
            "the program is larger than MAX_PROGRAM_BYTES in xtask/src/bloat.rs: reduce its size (see the \
                    tables above), or raise the budget and explain why in the commit message"
                .into(),
        );
    }
    Ok(())
}

/// Returns the functions of a program. Functions with the same name are added up.
fn read_functions(program: &Path) -> Result<Vec<Function>> {
    let output = Command::new("nm").args(["-S", "-C", "--defined-only"]).arg(program).output()?;
    if !output.status.success() {
        return Err(format!("nm failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let mut sizes: HashMap<String, u64> = HashMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(Function { name, bytes }) = parse_symbol(line) {
            *sizes.entry(name).or_default() += bytes;
        }
    }
    Ok(sizes.into_iter().map(|(name, bytes)| Function { name, bytes }).collect())
}

/// Parses a line of `nm -S`: address, size, kind, name. Returns `None` for symbols that are not code.
fn parse_symbol(line: &str) -> Option<Function> {
    let mut words = line.splitn(4, ' ');
    let (_address, size, kind, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let is_code = matches!(kind, "t" | "T" | "w" | "W");
    let bytes = u64::from_str_radix(size, 16).ok().filter(|_| is_code)?;
    Some(Function { name: strip_hash(name).to_owned(), bytes })
}

/// Removes the hash at the end of a name, which differs between instances of a generic function.
fn strip_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) => name,
        _ => name,
    }
}

/// Returns the crate of a function: the crate of the type before `as`, otherwise the first path segment. Symbols
/// without a path come from C code or from the linker.
fn crate_of(name: &str) -> &str {
    let path = name.trim_start_matches(['<', '&', '*', '(', '[', ' ']);
    let path = path.strip_prefix("mut ").or_else(|| path.strip_prefix("dyn ")).unwrap_or(path);
    let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(path.len());
    if path[end..].starts_with("::") { &path[..end] } else { "(no crate)" }
}

/// Returns the code size of each crate, largest first.
fn sizes_by_crate(functions: &[Function]) -> Vec<(String, u64)> {
    let mut sizes: HashMap<&str, u64> = HashMap::new();
    for Function { name, bytes } in functions {
        *sizes.entry(crate_of(name)).or_default() += bytes;
    }
    let mut rows: Vec<(String, u64)> =
        sizes.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    rows.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    rows
}

fn print_table(unit: &str, rows: &[(String, u64)]) {
    let total: u64 = rows.iter().map(|(_, bytes)| bytes).sum();
    println!("\nCode by {unit}, {:.1} MB in total:\n", mb(total));
    for (name, bytes) in rows.iter().take(MAX_ROWS) {
        println!(
            "{:8.1} kB  {:4.1} %  {name}",
            *bytes as f64 / 1e3,
            *bytes as f64 * 100.0 / total.max(1) as f64
        );
    }
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nm_line_of_generic_function_is_attributed_to_its_crate() {
        let line = "0000000000a1b2c0 0000000000000123 t <hyper::proto::h1::Conn<I,B> as core::future::Future>::poll::h0123456789abcdef";
        let symbol = parse_symbol(line).unwrap();
        assert_eq!((symbol.bytes, crate_of(&symbol.name)), (0x123, "hyper"));
        assert!(symbol.name.ends_with("::poll"), "{}", symbol.name);
        assert!(parse_symbol("0000000000a1b2c0 0000000000000010 r data").is_none(), "data is not code");
        assert!(parse_symbol("                 U malloc").is_none(), "undefined symbol");
    }

    #[test]
    fn crate_of_returns_crate_of_first_type() {
        for (name, expected) in [
            ("core::ptr::drop_in_place<websvc_engine::Engine>", "core"),
            ("<&mut websvc_index::Index as core::fmt::Debug>::fmt", "websvc_index"),
            ("<dyn tantivy::Query as x::Y>::z", "tantivy"),
            ("sqlite3VdbeExec", "(no crate)"),
        ] {
            assert_eq!(crate_of(name), expected, "{name}");
        }
    }
}
