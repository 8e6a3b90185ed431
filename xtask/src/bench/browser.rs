//! `cargo xtask bench browser`: how long a page takes through our browser, beside Chromium alone and Playwright.

mod pages;
mod resources;
mod site;
mod way;

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::Cache;
use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, apps, chromium, npm, root};

use pages::Page;
use way::{Times, Way};

/// How often each page is drawn in a round, with a browser that runs already and with one of its own.
const WARM: usize = 20;
const COLD: usize = 6;
/// Rounds, one way after the other, so that what else the machine does falls on all of them.
const ROUNDS: usize = 2;
/// Pages for each figure of pages/s.
const MANY: usize = 48;
const AT_ONCE: [usize; 3] = [1, 4, 8];

/// Prints the tables, or one line that says what is missing.
pub(crate) fn run() -> Result {
    let chromium = match chromium::prepare() {
        Ok(chromium) => chromium,
        Err(error) => {
            println!("browser: skipped, there is no Chromium: {error}");
            return Ok(());
        }
    };
    let build = ["build", "--profile", "dist", "--package", "websvc-browser", "--example", "render"];
    run_command(cargo().args(build).current_dir(root()))?;
    let mut files = site::Files::new();
    let mut pages = pages::own(&mut files);
    match apps::prepare().and_then(|built| pages::applications(&built, &mut files)) {
        Ok(more) => pages.extend(more),
        Err(error) => {
            println!("browser: the rows of applications are skipped, npm did not build them: {error}");
        }
    }
    let ways = ways(&chromium);
    let site = format!("http://{}", site::serve(files)?);
    compare_pages(&ways, &site, &pages)?;
    match pages.get(2).or(pages.first()) {
        Some(page) => compare_many(&ways, &site, page),
        None => Ok(()),
    }
}

/// Returns the ways that there are on this machine, ours first.
fn ways(chromium: &Path) -> Vec<Way> {
    let program = root().join("target/dist/examples/render");
    let mut ways = vec![
        Way::Ours { program, chromium: chromium.to_owned() },
        Way::DumpDom { chromium: chromium.to_owned(), more: &[] },
        Way::DumpDom { chromium: chromium.to_owned(), more: &["--virtual-time-budget=1000"] },
    ];
    match playwright() {
        Ok(folder) => {
            for wait_until in ["load", "networkidle"] {
                ways.push(Way::Playwright {
                    folder: folder.clone(),
                    chromium: chromium.to_owned(),
                    wait_until,
                });
            }
        }
        Err(error) => {
            println!("browser: the rows of Playwright are skipped, npm did not install it: {error}");
        }
    }
    ways
}

fn playwright() -> Result<PathBuf> {
    let sources = root().join("xtask/bench/playwright");
    let folder = npm::install(&Cache::open()?, "playwright", &sources)?;
    fs::copy(sources.join("pages.mjs"), folder.join("pages.mjs"))?;
    Ok(folder)
}

/// Prints the time of each page by each way, one at a time.
fn compare_pages(ways: &[Way], site: &str, pages: &[Page]) -> Result {
    println!("\n| page | way | p50 ms | p99 ms | CPU ms a page | complete | ours / this, p50 |");
    println!("|---|---|---|---|---|---|---|");
    for page in pages {
        let mut times: Vec<Times> = ways.iter().map(|_| Times::default()).collect();
        for _ in 0..ROUNDS {
            for (way, all) in ways.iter().zip(&mut times) {
                let count = if matches!(way, Way::DumpDom { .. }) { COLD } else { WARM };
                all.add(way.draw(site, page, count, 1)?);
            }
        }
        let ours = times.first().map_or(f64::NAN, |ours| ours.at(50));
        for (way, all) in ways.iter().zip(&times) {
            let (drawn, p50) = (all.pages_ms.len(), all.at(50));
            println!(
                "| {} | {} | {p50:.0} | {:.0} | {} | {} of {drawn} | {:.2} |",
                page.name,
                way.name(),
                all.at(99),
                all.cpu_ms().map(|cpu| format!("{cpu:.0}")).unwrap_or_default(),
                drawn as u64 - all.incomplete,
                ours / p50
            );
        }
    }
    Ok(())
}

/// Prints how many pages a second there are, and what memory they take, with more and more at once.
fn compare_many(ways: &[Way], site: &str, page: &Page) -> Result {
    println!(
        "\n{}, many at once; memory is the most at one time, in MB that are shared with nobody:\n",
        page.name
    );
    println!("| way | at once | pages/s | p50 ms | complete | Chromium | the program |");
    println!("|---|---|---|---|---|---|---|");
    for way in ways.iter().filter(|way| !matches!(way, Way::DumpDom { .. })) {
        let mut memory = Vec::new();
        for at_once in AT_ONCE {
            let all = way.draw(site, page, MANY, at_once)?;
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            println!(
                "| {} | {at_once} | {:.1} | {:.0} | {} of {MANY} | {:.0} | {:.1} |",
                way.name(),
                all.pages_per_second(),
                all.at(50),
                MANY as u64 - all.incomplete,
                megabytes(all.resources.browser),
                megabytes(all.resources.program)
            );
            memory.push((at_once, megabytes(all.resources.browser), megabytes(all.resources.program)));
        }
        if let [(few, browser, program), .., (many, more_browser, more_program)] = memory[..] {
            let pages = (many - few) as f64;
            println!(
                "| {}, each page more | | | | | {:.0} | {:.1} |",
                way.name(),
                (more_browser - browser) / pages,
                (more_program - program) / pages
            );
        }
    }
    Ok(())
}
