//! `cargo xtask bench browser`: render times of websvc, compared with Chromium alone and Playwright.

mod pages;
mod renderer;
mod resources;
mod site;

use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::cargo;
use crate::debian::run as run_command;
use crate::{Result, apps, chromium, playwright, root};

use pages::Page;
use renderer::{RenderTimes, Renderer};

/// Renders of each page in a round, with a browser that is already running.
const WARM_RENDERS: usize = 20;
/// Renders of each page in a round, with a new browser for each.
const COLD_RENDERS: usize = 6;
/// Rounds over all renderers. Interleaved, so that other load on the machine affects all of them.
const ROUNDS: usize = 2;
/// Pages rendered for each measurement of pages per second.
const CONCURRENT_RENDERS: usize = 48;
/// Numbers of pages that are rendered concurrently.
const CONCURRENCY_LEVELS: [usize; 3] = [1, 4, 8];

/// Prints the tables. Without Chromium, prints a message instead.
pub(crate) fn run() -> Result {
    let chromium = match chromium::prepare() {
        Ok(chromium) => chromium,
        Err(error) => {
            println!("browser: skipped, Chromium is not available: {error}");
            return Ok(());
        }
    };
    let build = ["build", "--profile", "dist", "--package", "websvc-browser", "--example", "render"];
    run_command(cargo().args(build).current_dir(root()))?;
    let mut files = site::Files::new();
    let mut pages = pages::generated(&mut files);
    match apps::prepare().and_then(|built| pages::applications(&built, &mut files)) {
        Ok(more) => pages.extend(more),
        Err(error) => {
            println!("browser: the applications are skipped, they could not be built: {error}");
        }
    }
    let renderers = available_renderers(&chromium);
    let site = format!("http://{}", site::serve(files)?);
    compare_pages(&renderers, &site, &pages)?;
    match pages.get(2).or(pages.first()) {
        Some(page) => compare_concurrency(&renderers, &site, page),
        None => Ok(()),
    }
}

/// Returns the renderers that are available on this machine, websvc first.
fn available_renderers(chromium: &Path) -> Vec<Renderer> {
    let program = root().join("target/dist/examples/render");
    let mut renderers = vec![
        Renderer::Websvc { program, chromium: chromium.to_owned() },
        Renderer::DumpDom { chromium: chromium.to_owned(), options: &[] },
        Renderer::DumpDom { chromium: chromium.to_owned(), options: &["--virtual-time-budget=1000"] },
    ];
    match install_playwright() {
        Ok(folder) => {
            for wait_until in ["load", "networkidle"] {
                renderers.push(Renderer::Playwright {
                    folder: folder.clone(),
                    chromium: chromium.to_owned(),
                    wait_until,
                });
            }
        }
        Err(error) => {
            println!("browser: Playwright is skipped, it could not be installed: {error}");
        }
    }
    renderers
}

/// Installs Playwright and returns the folder with the script `pages.mjs`.
fn install_playwright() -> Result<PathBuf> {
    let folder = playwright::install()?;
    fs::copy(root().join("xtask/bench/playwright/pages.mjs"), folder.join("pages.mjs"))?;
    Ok(folder)
}

/// Prints the render times of each page with each renderer, one page at a time.
fn compare_pages(renderers: &[Renderer], site: &str, pages: &[Page]) -> Result {
    println!("\n| page | with | p50 ms | p99 ms | CPU ms a page | complete | websvc / this, p50 |");
    println!("|---|---|---|---|---|---|---|");
    for page in pages {
        let mut times: Vec<RenderTimes> = renderers.iter().map(|_| RenderTimes::default()).collect();
        for _ in 0..ROUNDS {
            for (renderer, total) in renderers.iter().zip(&mut times) {
                let count =
                    if matches!(renderer, Renderer::DumpDom { .. }) { COLD_RENDERS } else { WARM_RENDERS };
                total.add(renderer.render(site, page, count, 1)?);
            }
        }
        let websvc_p50 = times.first().map_or(f64::NAN, |times| times.percentile(50));
        for (renderer, total) in renderers.iter().zip(&times) {
            let (rendered, p50) = (total.pages_ms.len(), total.percentile(50));
            println!(
                "| {} | {} | {p50:.0} | {:.0} | {} | {} of {rendered} | {:.2} |",
                page.name,
                renderer.name(),
                total.percentile(99),
                total.cpu_ms().map(|cpu| format!("{cpu:.0}")).unwrap_or_default(),
                rendered as u64 - total.incomplete,
                websvc_p50 / p50
            );
        }
    }
    Ok(())
}

/// Prints pages per second and peak memory at increasing concurrency.
fn compare_concurrency(renderers: &[Renderer], site: &str, page: &Page) -> Result {
    println!("\n{}, rendered concurrently; memory is the peak of unshared memory in MB:\n", page.name);
    println!("| with | concurrency | pages/s | p50 ms | complete | Chromium MB | client program MB |");
    println!("|---|---|---|---|---|---|---|");
    for renderer in renderers.iter().filter(|renderer| !matches!(renderer, Renderer::DumpDom { .. })) {
        let mut memory = Vec::new();
        for concurrency in CONCURRENCY_LEVELS {
            let times = renderer.render(site, page, CONCURRENT_RENDERS, concurrency)?;
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            println!(
                "| {} | {concurrency} | {:.1} | {:.0} | {} of {CONCURRENT_RENDERS} | {:.0} | {:.1} |",
                renderer.name(),
                times.pages_per_second(),
                times.percentile(50),
                CONCURRENT_RENDERS as u64 - times.incomplete,
                megabytes(times.resources.browser_bytes),
                megabytes(times.resources.program_bytes)
            );
            memory.push((
                concurrency,
                megabytes(times.resources.browser_bytes),
                megabytes(times.resources.program_bytes),
            ));
        }
        if let [(min, min_browser, min_program), .., (max, max_browser, max_program)] = memory[..] {
            let pages = (max - min) as f64;
            println!(
                "| {}, per additional page | | | | | {:.0} | {:.1} |",
                renderer.name(),
                (max_browser - min_browser) / pages,
                (max_program - min_program) / pages
            );
        }
    }
    Ok(())
}
