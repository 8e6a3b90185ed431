//! `websvc batch`: scrapes a list of URLs.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use websvc::JobKind;
use websvc::types::job::BatchScrapeRequest;
use websvc::types::limits::BATCH_URLS_MAX;

use super::job::{self, ErrorPagePolicy, JobRequestKind};
use crate::CommandContext;
use crate::args::Batch;

/// Maximum size of a list of URLs in bytes. It is larger than a job allows.
const LIST_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Runs `websvc batch`.
pub(crate) async fn run(context: CommandContext, arguments: Batch) -> Result<()> {
    let request = match &arguments.job.resume {
        Some(id) => JobRequestKind::Existing(JobKind::Batch, id.clone()),
        None => JobRequestKind::Batch(requests(&arguments)?),
    };
    let policy = if arguments.allow_errors { ErrorPagePolicy::Accept } else { ErrorPagePolicy::Fail };
    Box::pin(job::run(&context, &arguments.job.remote, &arguments.job.output, policy, request)).await
}

/// Returns the requests for the list, split into the maximum number of URLs per request.
fn requests(arguments: &Batch) -> Result<Vec<BatchScrapeRequest>> {
    let Batch { urls, list, allow_errors: _, job } = arguments;
    let mut urls = urls.clone();
    if let Some(list) = list {
        urls.extend(read_list(list)?);
    }
    ensure!(!urls.is_empty(), "no URLs were given");
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
    let context = || format!("cannot read {}", path.display());
    if path == Path::new("-") {
        return parse_list(std::io::stdin().lock()).context("cannot read stdin");
    }
    parse_list(File::open(path).with_context(context)?).with_context(context)
}

fn parse_list(input: impl Read) -> Result<Vec<String>> {
    let mut urls = Vec::new();
    let mut input = BufReader::new(input.take(LIST_MAX_BYTES + 1));
    let (mut read, mut line) = (0_u64, String::new());
    loop {
        line.clear();
        let bytes = input.read_line(&mut line)?;
        if bytes == 0 {
            return Ok(urls);
        }
        read += bytes as u64;
        ensure!(read <= LIST_MAX_BYTES, "the list is larger than {LIST_MAX_BYTES} bytes");
        // Some editors write a byte order mark before the first line.
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
    fn list_has_one_url_per_line() {
        let list = "\u{feff}http://a.test/\r\n\n# old\n  b.test  \n#http://c.test/\nhttp://d.test/#part";
        assert_eq!(parse_list(list.as_bytes()).unwrap(), ["http://a.test/", "b.test", "http://d.test/#part"]);
        assert!(parse_list([0xff, 0xfe, b'\n'].as_slice()).is_err(), "the list is not valid UTF-8");
    }
}
