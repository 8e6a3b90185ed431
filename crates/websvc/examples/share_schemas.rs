//! Sharing schemas: publishes what a request may be, and writes, reads and checks requests; no service, no network.
//!
//! ```sh
//! cargo run -p websvc --example share_schemas
//! ```
//!
//! A program that shares only the types depends on `websvc-types`, which brings serde, schemars and nothing else; one
//! that checks the field rules, too, adds `websvc-validate`. The facade has both, as `types` and `validate`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use websvc_types::{Format, ScrapeOptions, SearchRequest, format, schema};
use websvc_validate::{Policy, Rejection, SourcePlan, read_search};

fn main() -> Result<(), Box<dyn Error>> {
    publish();
    write()?;
    read()?;
    refuse()
}

/// Prints a part of the JSON Schema of requests: for other languages, forms and generated clients.
fn publish() {
    let schema = schema::request::<SearchRequest>().to_value();
    println!("schema of limit: {}", schema["properties"]["limit"]);
}

/// Writes a request: only what was said is in it.
fn write() -> Result<(), Box<dyn Error>> {
    let request = SearchRequest {
        query: "asyncio gather".to_owned(),
        limit: Some(5),
        scrape_options: Some(ScrapeOptions {
            formats: Some(vec![Format::Markdown(format::Markdown::default())]),
            ..ScrapeOptions::default()
        }),
        ..SearchRequest::default()
    };
    println!("request: {}", serde_json::to_string(&request)?);
    Ok(())
}

/// Reads a request as a service does: into a plan, which has every default, and with a word about what was ignored.
fn read() -> Result<(), Box<dyn Error>> {
    let body =
        br#"{"query": "asyncio gather", "sources": ["web", {"type": "news", "tbs": "qdr:w"}], "limt": 5}"#;
    let checked = read_search(body, &Policy::default())?;
    let kinds: Vec<_> = checked.plan.sources().iter().map(SourcePlan::kind).collect();
    println!(
        "plan: {} results of each of {kinds:?} within {:?}",
        checked.plan.limit(),
        checked.plan.timeout()
    );
    println!("warnings: {:?}", checked.warnings);
    Ok(())
}

/// Refuses a request: every rule that it breaks is named with its place.
fn refuse() -> Result<(), Box<dyn Error>> {
    let body = br#"{"query": "", "limit": 101, "scrapeOptions": {"timeout": 999}}"#;
    match read_search(body, &Policy::default()) {
        Err(Rejection::Invalid(violations)) => {
            for violation in violations {
                println!("refused at {}: {}", violation.path, violation.message);
            }
            Ok(())
        }
        Err(rejection) => Err(rejection.into()),
        Ok(_) => Err("the request breaks three rules".into()),
    }
}
