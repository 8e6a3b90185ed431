//! `websvc demo`: an offline tour: a website, a crawl, the service, a search over HTTP, and a monitor of a page that changes.

mod monitor;
mod price_list;
mod site;

use std::io::ErrorKind;
use std::time::Instant;

use anyhow::{Context, Result};
use websvc::types::{Format, ScrapeOptions, SearchRequest, SearchResponse};
use websvc_engine::crawl::{CrawlOptions, IndexSink, crawl};
use websvc_types::counted;

use crate::args::Demo;
use crate::command::{Running, start, stop_signal};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::manual;
use crate::output::{self, Style, styled};
use crate::progress::Progress;

use price_list::Prices;

const QUERY: &str = "how does a crawl stay polite";

/// The body of the search.
const SEARCH: &str =
    r#"{"query": "how does a crawl stay polite", "scrapeOptions": {"formats": ["markdown"]}}"#;

/// Runs `websvc demo`.
pub(crate) async fn run(mut config: Config, arguments: &Demo) -> Result<()> {
    let started = Instant::now();
    let directory = tempfile::Builder::new().prefix("websvc-demo-").tempdir()?;
    let data_dir = DataDir::open(Some(directory.path()))?;
    config.server.listen = Config::default().server.listen;
    config.fetch.allow_networks = vec!["127.0.0.0/8".to_owned()];

    let (site, serving_manual) = site::serve(manual::respond).await?;
    let site = format!("{site}/");
    step(1, &format!("Serving the manual of websvc as a website at {site}"))?;
    let prices = Prices::default();
    let shown = prices.clone();
    let (page, serving_prices) = site::serve(move |path| shown.respond(path)).await?;
    let page = format!("{page}{}", price_list::PATH);
    let running = start_service(config, &data_dir).await?;
    step(2, "Crawling the website into a new index")?;
    index_manual(&running, &site).await?;

    let key = running.app().store.create_key("default", "demo")?;
    let address = running.address();
    step(3, &format!("Running the service at {address}"))?;
    let serving = site::Running::start(|stop| running.run(stop));

    step(4, &format!("POST /v2/search {SEARCH}"))?;
    let key = key.secret.expose().to_owned();
    print_response(&search(&address, &key).await?)?;
    step(5, &format!("POST /v2/monitor: checks {page} {}", monitor::SCHEDULE))?;
    monitor::show_change(&address, &key, &page, &prices).await?;
    step(6, "The search from your own program")?;
    print_client_examples(&address, &key)?;
    output::line(&format!("\nThe tour took {:.1} s.", started.elapsed().as_secs_f64()))?;

    if !arguments.once {
        output::line("The service and the websites keep running until Ctrl-C.")?;
        stop_signal()?.await;
    }
    for running in [serving, serving_manual, serving_prices] {
        running.stop().await?;
    }
    Ok(())
}

/// Starts the service at the configured address, or at a free port if another program listens there.
async fn start_service(mut config: Config, data_dir: &DataDir) -> Result<Running> {
    match start(&config, data_dir, None).await {
        Err(error) if is_address_in_use(&error) => {}
        result => return result,
    }
    config.server.listen = "127.0.0.1:0".to_owned();
    start(&config, data_dir, None).await
}

fn is_address_in_use(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| cause.kind() == ErrorKind::AddrInUse)
}

async fn index_manual(running: &Running, site: &str) -> Result<()> {
    let app = running.app();
    let sink = IndexSink(app.index.clone());
    let mut progress = Progress::start("crawling");
    let options = CrawlOptions::new(vec![site.parse().context("the website's address")?]);
    let scraper = app.engine.scraper();
    let report =
        crawl(scraper, &options, &sink, &mut |event| progress.event(&event), std::future::pending()).await?;
    let index = app.index.clone();
    websvc_transport::spawn_blocking(move || index.flush()).await??;
    progress.finish();
    let (pages, errors) = (counted(report.pages, "page", "pages"), counted(report.errors, "error", "errors"));
    output::line(&format!("   {pages} in {} ms, {errors}", report.elapsed_ms))
}

async fn search(address: &str, key: &str) -> Result<SearchResponse> {
    let client = websvc::Client::new(address.parse()?, key)?;
    let request = SearchRequest {
        query: QUERY.to_owned(),
        limit: Some(3),
        scrape_options: Some(ScrapeOptions {
            formats: Some(vec![Format::Markdown(Default::default())]),
            ..ScrapeOptions::default()
        }),
        ..SearchRequest::default()
    };
    Ok(client.execute_search(&request).await?)
}

fn print_response(response: &SearchResponse) -> Result<()> {
    let results = response.data.web.as_deref().unwrap_or_default();
    for (position, result) in results.iter().enumerate() {
        output::result(position + 1, &result.title, &result.url, &result.description)?;
    }
    let first = results.first().context("the search found no page of the manual")?;
    let markdown = first.content.markdown.as_deref().context("the first result has no markdown")?;
    output::line(&format!("\n   {}", styled("The first result's markdown:", Style::Bold)))?;
    const MAX_LINES: usize = 16;
    for line in markdown.lines().take(MAX_LINES) {
        output::line(&format!("   | {line}"))?;
    }
    match markdown.lines().count().saturating_sub(MAX_LINES) {
        0 => Ok(()),
        more => output::line(&format!("   | ... {}", counted(more, "more line", "more lines"))),
    }
}

fn print_client_examples(address: &str, key: &str) -> Result<()> {
    output::line(&format!(
        "\ncurl {address}/v2/search -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' \\\n  \
         -d '{SEARCH}'"
    ))?;
    output::line(&format!(
        "\nfrom firecrawl import Firecrawl  # pip install firecrawl-py\n\
         app = Firecrawl(api_key=\"{key}\", api_url=\"{address}\")\n\
         for result in app.search(\"{QUERY}\").web:\n    print(result.url, result.title)"
    ))
}

fn step(number: u8, text: &str) -> Result<()> {
    output::line(&format!("\n{} {}", styled(&format!("{number}."), Style::Bold), styled(text, Style::Bold)))
}
