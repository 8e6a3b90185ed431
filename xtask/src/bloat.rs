//! `cargo xtask bloat`: what the program consists of, by crate and by function; and the budgets of its weight.
//!
//! It builds the profile `dist` with its symbols, which takes as long as a release, and reads them with `nm`.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, root};

/// Crates in the normal dependency tree of the program, at most. Each costs time in every build from nothing; to raise
/// this, say in the commit what the new crate is for, and why nothing that is there already does it.
const CRATES_MAX: usize = 406;

/// Bytes of the program without its symbols, at most. To raise this, say in the commit what the bytes are for, with the
/// difference that `cargo xtask bloat` shows, and in docs/benchmarks.md the new size.
const PROGRAM_BYTES_MAX: u64 = 32_000_000;

/// Rows of each table.
const ROWS: usize = 40;

/// Code of the program.
struct Function {
    name: String,
    bytes: u64,
}

/// Checks the number of crates, which takes no build.
pub(crate) fn check_crates() -> Result {
    let output = cargo()
        .args(["tree", "--package", "websvc-cli", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        // The same tree on every machine.
        .args(["--target", "x86_64-unknown-linux-gnu"])
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
    let count = crates.len();
    if count > CRATES_MAX {
        return Err(format!(
            "budget: {count} crates are in the tree of the program, {CRATES_MAX} are allowed: leave one out, or raise \
             CRATES_MAX in xtask/src/bloat.rs and say in the commit why"
        )
        .into());
    }
    println!("budget: ok, {count} of {CRATES_MAX} crates");
    Ok(())
}

/// Prints the tables, and fails when the program is larger than it may be.
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
    let functions = functions(&program)?;
    print_table("crate", &by_crate(&functions));
    let mut largest: Vec<(String, u64)> =
        functions.into_iter().map(|function| (function.name, function.bytes)).collect();
    largest.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    print_table("function", &largest);
    check_size(&program, &folder.join("stripped"))
}

fn check_size(program: &Path, stripped: &Path) -> Result {
    run_command(Command::new("strip").arg("-o").arg(stripped).arg(program))?;
    let bytes = fs::metadata(stripped)?.len();
    println!("\nprogram: {:.1} MB of at most {:.1}", mb(bytes), mb(PROGRAM_BYTES_MAX));
    if bytes > PROGRAM_BYTES_MAX {
        return Err("the program is larger than PROGRAM_BYTES_MAX in xtask/src/bloat.rs: the tables above say what it \
                    consists of; to raise the budget, say in the commit why"
            .into());
    }
    Ok(())
}

/// Returns the functions of a program, each name once.
fn functions(program: &Path) -> Result<Vec<Function>> {
    let output = Command::new("nm").args(["-S", "-C", "--defined-only"]).arg(program).output()?;
    if !output.status.success() {
        return Err(format!("nm failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let mut sizes: HashMap<String, u64> = HashMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(Function { name, bytes }) = function(line) {
            *sizes.entry(name).or_default() += bytes;
        }
    }
    Ok(sizes.into_iter().map(|(name, bytes)| Function { name, bytes }).collect())
}

/// Reads a line of `nm -S`: address, size, kind, name. Other kinds than code are left out.
fn function(line: &str) -> Option<Function> {
    let mut words = line.splitn(4, ' ');
    let (_address, size, kind, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let is_code = matches!(kind, "t" | "T" | "w" | "W");
    let bytes = u64::from_str_radix(size, 16).ok().filter(|_| is_code)?;
    Some(Function { name: without_hash(name).to_owned(), bytes })
}

/// Removes the hash at the end of a name, which tells instances of generic functions apart.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) => name,
        _ => name,
    }
}

/// Returns the crate that a function belongs to: that of the type in front of `as`, else the first part of the path. What has
/// no path is C, or of the linker.
fn crate_of(name: &str) -> &str {
    let path = name.trim_start_matches(['<', '&', '*', '(', '[', ' ']);
    let path = path.strip_prefix("mut ").or_else(|| path.strip_prefix("dyn ")).unwrap_or(path);
    let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(path.len());
    if path[end..].starts_with("::") { &path[..end] } else { "(no crate)" }
}

fn by_crate(functions: &[Function]) -> Vec<(String, u64)> {
    let mut sizes: HashMap<&str, u64> = HashMap::new();
    for Function { name, bytes } in functions {
        *sizes.entry(crate_of(name)).or_default() += bytes;
    }
    let mut rows: Vec<(String, u64)> =
        sizes.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    rows.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    rows
}

fn print_table(what: &str, rows: &[(String, u64)]) {
    let all: u64 = rows.iter().map(|(_, bytes)| bytes).sum();
    println!("\n{what}s, {:.1} MB of code:\n", mb(all));
    for (name, bytes) in rows.iter().take(ROWS) {
        println!(
            "{:8.1} kB  {:4.1} %  {name}",
            *bytes as f64 / 1e3,
            *bytes as f64 * 100.0 / all.max(1) as f64
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
    fn lines_of_nm_are_read_and_attributed() {
        let line = "0000000000a1b2c0 0000000000000123 t <hyper::proto::h1::Conn<I,B> as core::future::Future>::poll::h0123456789abcdef";
        let read = function(line).unwrap();
        assert_eq!((read.bytes, crate_of(&read.name)), (0x123, "hyper"));
        assert!(read.name.ends_with("::poll"), "{}", read.name);
        assert!(function("0000000000a1b2c0 0000000000000010 r data").is_none(), "no code");
        assert!(function("                 U malloc").is_none(), "not defined here");
    }

    #[test]
    fn crates_are_those_of_the_first_type() {
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
