//! `cargo xtask bench documents`: what websvc and other programs read from PDF files of many producers with known content.

use std::path::Path;
use std::process::Command;

use crate::cache::Cache;
use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, python, root};

/// Environment variable with the path of a Python interpreter that has docling, which needs several gigabytes of
/// libraries and models.
const DOCLING_VARIABLE: &str = "WEBSVC_BENCH_DOCLING";
/// The columns of the example `producers`.
const COLUMNS: [&str; 11] = [
    "documents",
    "pages",
    "words",
    "4 words",
    "order",
    "paragraphs",
    "headings",
    "items",
    "rows",
    "code",
    "CPU ms/page",
];

/// The rows of a program: its name, and for each producer the cells.
type Rows = Vec<(String, Vec<String>)>;

/// Prints a table with a row for each producer and program, then the totals of both halves and of all.
pub(crate) fn run() -> Result {
    let build = ["build", "--profile", "dist", "--package", "websvc-evaluation", "--example", "producers"];
    run_command(cargo().args(build).current_dir(root()))?;
    let example = root().join("target/dist/examples/producers");
    let mut programs = vec![("websvc", read_rows(&run_command(&mut Command::new(&example))?.stdout)?)];
    for name in ["pdftotext", "pymupdf4llm", "pdfplumber", "markitdown", "docling"] {
        match measure_peer(name, &example) {
            Ok(rows) => programs.push((name, rows)),
            Err(error) => println!("{name} is not available: {error}"),
        }
    }
    println!("| producer | program | {} |", COLUMNS.join(" | "));
    println!("|---|---|{}", "---|".repeat(COLUMNS.len()));
    for (producer, _) in &programs[0].1 {
        for (program, rows) in &programs {
            let row = rows.iter().find(|(name, _)| name == producer);
            row.iter().for_each(|(_, cells)| println!("| {producer} | {program} | {} |", cells.join(" | ")));
        }
    }
    Ok(())
}

/// Reads the set with another program, and scores what it wrote.
fn measure_peer(name: &str, example: &Path) -> Result<Rows> {
    let interpreter = match name {
        "pdftotext" => {
            let version = run_command(Command::new(name).arg("-v"));
            version.map_err(|_| "install the Debian package poppler-utils")?;
            "python3".into()
        }
        "docling" => {
            let path = std::env::var_os(DOCLING_VARIABLE).filter(|path| !path.is_empty());
            path.ok_or_else(|| {
                format!("set {DOCLING_VARIABLE} to a Python interpreter after \"pip install docling\"")
            })?
        }
        _ => python::prepare_pdf_readers()?.into_os_string(),
    };
    let out = Cache::open()?.create_empty_dir(&format!("peers/documents/{name}"))?;
    let script = root().join("xtask/producers/peers.py");
    let set = root().join("crates/websvc-evaluation/fixtures/pdf");
    let output = run_command(Command::new(interpreter).arg(script).arg(name).arg(set).arg(&out))?;
    let text = String::from_utf8(output.stdout)?;
    let extension = text.lines().next_back().unwrap_or_default();
    read_rows(&run_command(Command::new(example).arg("--of").arg(&out).arg(extension))?.stdout)
}

/// Parses the output of the example.
fn read_rows(output: &[u8]) -> Result<Rows> {
    let mut rows = Vec::new();
    for line in String::from_utf8_lossy(output).lines() {
        let mut cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        if cells.len() != COLUMNS.len() + 1 {
            return Err(format!("unexpected output of producers: {line:?}").into());
        }
        rows.push((cells.remove(0), cells));
    }
    Ok(rows)
}
