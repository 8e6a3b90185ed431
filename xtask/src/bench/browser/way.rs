//! The ways to draw a page that are compared, each a program of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::pages::Page;
use super::resources::{Resources, Watch};
use crate::Result;

/// How a page is drawn.
pub(super) enum Way {
    /// The example `render` of websvc-browser: one Chromium for all pages.
    Ours { program: PathBuf, chromium: PathBuf },
    /// A Chromium for each page, which writes it out; with these arguments.
    DumpDom { chromium: PathBuf, more: &'static [&'static str] },
    /// Playwright, one Chromium for all pages, waiting for this event.
    Playwright { folder: PathBuf, chromium: PathBuf, wait_until: &'static str },
}

/// Render times of pages.
#[derive(Default)]
pub(super) struct Times {
    pub(super) pages_ms: Vec<f64>,
    seconds: f64,
    /// Pages without the text that tells that they are complete.
    pub(super) incomplete: u64,
    pub(super) resources: Resources,
}

impl Times {
    pub(super) fn add(&mut self, other: Self) {
        self.pages_ms.extend(other.pages_ms);
        self.pages_ms.sort_by(f64::total_cmp);
        self.seconds += other.seconds;
        self.incomplete += other.incomplete;
        self.resources.cpu_ms += other.resources.cpu_ms;
    }

    /// Returns the time that this share of the pages does not exceed, in milliseconds.
    pub(super) fn at(&self, percent: usize) -> f64 {
        let last = self.pages_ms.len().saturating_sub(1);
        self.pages_ms.get((last * percent).div_ceil(100)).copied().unwrap_or(f64::NAN)
    }

    /// Returns the processor time of the program and its browser for each page, in milliseconds; nothing where it was
    /// not measured.
    pub(super) fn cpu_ms(&self) -> Option<f64> {
        let used = self.resources.cpu_ms;
        (used > 0).then(|| used as f64 / self.pages_ms.len() as f64)
    }

    pub(super) fn pages_per_second(&self) -> f64 {
        self.pages_ms.len() as f64 / self.seconds
    }
}

impl Way {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Ours { .. } => "websvc".to_owned(),
            Self::DumpDom { more: [], .. } => "--dump-dom".to_owned(),
            Self::DumpDom { more, .. } => format!("--dump-dom {}", more.join(" ")),
            Self::Playwright { wait_until, .. } => format!("Playwright, {wait_until}"),
        }
    }

    /// Draws a page `times` times, `at_once` of them at a time.
    pub(super) fn draw(&self, site: &str, page: &Page, times: usize, at_once: usize) -> Result<Times> {
        let url = format!("{site}{}", page.path);
        let (times, at_once) = (times.to_string(), at_once.to_string());
        match self {
            Self::Ours { program, chromium } => {
                let mut command = Command::new(program);
                command.args([&url, &times, &at_once, page.expected]).env("WEBSVC_TEST_CHROMIUM", chromium);
                read(&mut command)
            }
            Self::Playwright { folder, chromium, wait_until } => {
                let mut command = Command::new("node");
                command.arg(folder.join("pages.mjs")).arg(chromium);
                read(command.args([&url, &times, &at_once, *wait_until, page.expected]).current_dir(folder))
            }
            Self::DumpDom { chromium, more } => {
                let mut all = Times::default();
                for _ in 0..times.parse()? {
                    let mut command = Command::new(chromium);
                    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]).args(*more);
                    let began = Instant::now();
                    let output = command.arg(&url).stderr(Stdio::null()).output()?;
                    let took = began.elapsed();
                    let is_complete = String::from_utf8_lossy(&output.stdout).contains(page.expected);
                    all.add(Times {
                        pages_ms: vec![took.as_secs_f64() * 1000.0],
                        seconds: took.as_secs_f64(),
                        incomplete: u64::from(!is_complete),
                        resources: Resources::default(),
                    });
                }
                Ok(all)
            }
        }
    }
}

/// Runs a program that opens pages and says in one line of JSON what they took.
fn read(command: &mut Command) -> Result<Times> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let watch = Watch::start(child.id());
    let output = child.wait_with_output()?;
    let resources = watch.finish();
    if !output.status.success() {
        return Err(format!("{command:?} failed").into());
    }
    let line = String::from_utf8(output.stdout)?;
    let said: Value = serde_json::from_str(line.trim())?;
    let mut times = Times { resources: Resources { cpu_ms: 0, ..resources }, ..Times::default() };
    times.add(Times {
        pages_ms: said["times_ms"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect(),
        seconds: said["seconds"].as_f64().ok_or("no time was said")?,
        incomplete: said["incomplete"].as_u64().ok_or("nothing was said of complete pages")?,
        resources,
    });
    Ok(times)
}
