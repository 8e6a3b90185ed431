//! The renderers that are compared. Each is a separate program.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::pages::Page;
use super::resources::{ResourceMonitor, Resources};
use crate::Result;

/// A program that renders pages.
pub(super) enum Renderer {
    /// The example `render` of websvc-browser, with one Chromium for all pages.
    Websvc { program: PathBuf, chromium: PathBuf },
    /// `--dump-dom` with a new Chromium for each page, with these additional options.
    DumpDom { chromium: PathBuf, options: &'static [&'static str] },
    /// Playwright with one Chromium for all pages, waiting for this event.
    Playwright { folder: PathBuf, chromium: PathBuf, wait_until: &'static str },
}

/// Render times of pages and the resources used.
#[derive(Default)]
pub(super) struct RenderTimes {
    /// Time of each page, sorted.
    pub(super) pages_ms: Vec<f64>,
    /// Elapsed time of all pages together.
    seconds: f64,
    /// Pages without their expected text.
    pub(super) incomplete: u64,
    pub(super) resources: Resources,
}

impl RenderTimes {
    /// Adds the pages of another measurement. Memory is not added, because it is a peak.
    pub(super) fn add(&mut self, other: Self) {
        self.pages_ms.extend(other.pages_ms);
        self.pages_ms.sort_by(f64::total_cmp);
        self.seconds += other.seconds;
        self.incomplete += other.incomplete;
        self.resources.cpu_ms += other.resources.cpu_ms;
    }

    /// Returns a percentile of the render times, in milliseconds.
    pub(super) fn percentile(&self, percent: usize) -> f64 {
        let last = self.pages_ms.len().saturating_sub(1);
        self.pages_ms.get((last * percent).div_ceil(100)).copied().unwrap_or(f64::NAN)
    }

    /// Returns the CPU time of the program and its browser per page, in milliseconds; `None` if it was not measured.
    pub(super) fn cpu_ms(&self) -> Option<f64> {
        let cpu_ms = self.resources.cpu_ms;
        (cpu_ms > 0).then(|| cpu_ms as f64 / self.pages_ms.len() as f64)
    }

    pub(super) fn pages_per_second(&self) -> f64 {
        self.pages_ms.len() as f64 / self.seconds
    }
}

impl Renderer {
    /// Returns the name in the tables.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Websvc { .. } => "websvc".to_owned(),
            Self::DumpDom { options: [], .. } => "--dump-dom".to_owned(),
            Self::DumpDom { options, .. } => format!("--dump-dom {}", options.join(" ")),
            Self::Playwright { wait_until, .. } => format!("Playwright, {wait_until}"),
        }
    }

    /// Renders a page `count` times, `concurrency` pages at a time.
    pub(super) fn render(
        &self,
        site: &str,
        page: &Page,
        count: usize,
        concurrency: usize,
    ) -> Result<RenderTimes> {
        let url = format!("{site}{}", page.path);
        let (count, concurrency) = (count.to_string(), concurrency.to_string());
        match self {
            Self::Websvc { program, chromium } => {
                let mut command = Command::new(program);
                command
                    .args([&url, &count, &concurrency, page.expected])
                    .env("WEBSVC_TEST_CHROMIUM", chromium);
                run_and_measure(&mut command)
            }
            Self::Playwright { folder, chromium, wait_until } => {
                let mut command = Command::new("node");
                command.arg(folder.join("pages.mjs")).arg(chromium);
                run_and_measure(
                    command
                        .args([&url, &count, &concurrency, *wait_until, page.expected])
                        .current_dir(folder),
                )
            }
            Self::DumpDom { chromium, options } => {
                let mut total = RenderTimes::default();
                for _ in 0..count.parse()? {
                    let mut command = Command::new(chromium);
                    command
                        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
                        .args(*options);
                    let started = Instant::now();
                    let output = command.arg(&url).stderr(Stdio::null()).output()?;
                    let elapsed = started.elapsed();
                    let is_complete = String::from_utf8_lossy(&output.stdout).contains(page.expected);
                    total.add(RenderTimes {
                        pages_ms: vec![elapsed.as_secs_f64() * 1000.0],
                        seconds: elapsed.as_secs_f64(),
                        incomplete: u64::from(!is_complete),
                        resources: Resources::default(),
                    });
                }
                Ok(total)
            }
        }
    }
}

/// Runs a program that renders pages and prints its measurements as a line of JSON: `times_ms`, `seconds`,
/// `incomplete`.
fn run_and_measure(command: &mut Command) -> Result<RenderTimes> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let monitor = ResourceMonitor::start(child.id());
    let output = child.wait_with_output()?;
    let resources = monitor.finish();
    if !output.status.success() {
        return Err(format!("{command:?} failed").into());
    }
    let line = String::from_utf8(output.stdout)?;
    let output: Value = serde_json::from_str(line.trim())?;
    let mut times = RenderTimes { resources: Resources { cpu_ms: 0, ..resources }, ..RenderTimes::default() };
    times.add(RenderTimes {
        pages_ms: output["times_ms"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect(),
        seconds: output["seconds"].as_f64().ok_or("the output has no number \"seconds\"")?,
        incomplete: output["incomplete"].as_u64().ok_or("the output has no number \"incomplete\"")?,
        resources,
    });
    Ok(times)
}
