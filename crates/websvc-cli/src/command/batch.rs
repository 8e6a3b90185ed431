//! `websvc batch`: the pages of a list, from the shell.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use websvc::JobKind;
use websvc::types::job::BatchScrapeRequest;
use websvc::types::limits::BATCH_URLS_MAX;

use super::job::{self, JobRequestKind};
use crate::CommandContext;
use crate::args::Batch;

/// The largest list of URLs, in bytes: more than a job may have.
const LIST_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Runs `websvc batch`.
pub(crate) async fn batch(setting: CommandContext, arguments: Batch) -> Result<()> {
    let asked = match &arguments.job.resume {
        Some(id) => JobRequestKind::Known(JobKind::Batch, id.clone()),
        None => JobRequestKind::Batch(requests(&arguments)?),
    };
    Box::pin(job::run(&setting, &arguments.job.remote, &arguments.job.handing, asked)).await
}

/// Returns a request for each part of the list that one may have.
fn requests(arguments: &Batch) -> Result<Vec<BatchScrapeRequest>> {
    let Batch { urls, list, job } = arguments;
    let mut urls = urls.clone();
    if let Some(list) = list {
        urls.extend(read_list(list)?);
    }
    ensure!(!urls.is_empty(), "no page was named");
    let options = job.scrape_options()?;
    let request = |urls: &[String]| BatchScrapeRequest {
        urls: urls.to_vec(),
        max_concurrency: job.concurrency,
        options: options.clone(),
        ..BatchScrapeRequest::default()
    };
    Ok(urls.chunks(BATCH_URLS_MAX).map(request).collect())
}

fn read_list(path: &Path) -> Result<Vec<String>> {
    let what = || format!("cannot read {}", path.display());
    if path == Path::new("-") {
        return lines(std::io::stdin().lock()).context("cannot read stdin");
    }
    lines(File::open(path).with_context(what)?).with_context(what)
}

fn lines(from: impl Read) -> Result<Vec<String>> {
    let mut urls = Vec::new();
    let mut from = BufReader::new(from.take(LIST_MAX_BYTES + 1));
    let (mut read, mut line) = (0_u64, String::new());
    loop {
        line.clear();
        let bytes = from.read_line(&mut line)?;
        if bytes == 0 {
            return Ok(urls);
        }
        read += bytes as u64;
        ensure!(read <= LIST_MAX_BYTES, "it is larger than {LIST_MAX_BYTES} bytes");
        // An editor may have put a mark before the first.
        let url = line.trim_start_matches('\u{feff}').trim();
        if !url.is_empty() && !url.starts_with('#') {
            urls.push(url.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_one_url_a_line() {
        let list = "\u{feff}http://a.test/\r\n\n# old\n  b.test  \n#http://c.test/\nhttp://d.test/#part";
        assert_eq!(lines(list.as_bytes()).unwrap(), ["http://a.test/", "b.test", "http://d.test/#part"]);
        assert!(lines([0xff, 0xfe, b'\n'].as_slice()).is_err(), "it is no text");
    }
}
