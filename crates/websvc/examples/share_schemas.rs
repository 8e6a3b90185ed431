//! Shares types and rules of requests: prints a JSON Schema, and builds, reads and checks requests, without a service.
//!
//! ```sh
//! cargo run -p websvc --example share_schemas
//! ```
//!
//! A program that shares only the types depends on `websvc-types`, whose dependencies are serde, serde_json and schemars.
//! `websvc-validate` adds the field rules. The crate `websvc` has both, as `types` and `validate`.

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;

use websvc_types::{Format, ScrapeOptions, SearchRequest, format, schema};
use websvc_validate::{Policy, Rejection, read_request};

fn main() -> Result<(), Box<dyn Error>> {
    print_schema();
    build_request()?;
    read_valid_request()?;
    read_invalid_request()
}

/// Prints a part of the JSON Schema of search requests, which forms and programs in other languages can use.
fn print_schema() {
    let schema = schema::request::<SearchRequest>().to_value();
    println!("schema of limit: {}", schema["properties"]["limit"]);
}

/// Prints a request as JSON. It contains only the fields that are set.
fn build_request() -> Result<(), Box<dyn Error>> {
    let request = SearchRequest {
        limit: Some(5),
        scrape_options: Some(ScrapeOptions {
            formats: Some(vec![Format::Markdown(format::Markdown::default())]),
            ..ScrapeOptions::default()
        }),
        ..SearchRequest::new("asyncio gather")
    };
    println!("request: {}", serde_json::to_string(&request)?);
    Ok(())
}

/// Reads a request as a service does: into a plan with all defaults, and warnings about ignored fields.
fn read_valid_request() -> Result<(), Box<dyn Error>> {
    let body =
        br#"{"query": "asyncio gather", "sources": ["web", {"type": "news", "tbs": "qdr:w"}], "limt": 5}"#;
    let checked = read_request::<SearchRequest>(body, &Policy::default())?;
    let kinds: Vec<_> = checked.plan.sources.iter().map(|source| source.kind).collect();
    println!("plan: {} results of each of {kinds:?} within {:?}", checked.plan.limit, checked.plan.timeout);
    println!("warnings: {:?}", checked.warnings);
    Ok(())
}

/// Reads a request that breaks rules, and prints every violation with its path.
fn read_invalid_request() -> Result<(), Box<dyn Error>> {
    let body = br#"{"query": "", "limit": 101, "scrapeOptions": {"timeout": 999}}"#;
    match read_request::<SearchRequest>(body, &Policy::default()) {
        Err(Rejection::Invalid(violations)) => {
            for violation in violations {
                println!("invalid {}: {}", violation.path, violation.message);
            }
            Ok(())
        }
        Err(rejection) => Err(rejection.into()),
        Ok(_) => Err("the request breaks three rules".into()),
    }
}
