//! Measures the cost of one audit event for its request: `cargo run --release -p websvc-audit --example audit_cost`.

use std::time::{Duration, Instant};

use websvc_audit::{Audit, AuditConfig, Event, Sink};

const EVENTS: u32 = 100_000;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "prints the measurements")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let sinks = vec![Sink::file(dir.path().join("audit.jsonl"))];
    let audit = Audit::open(&dir.path().join("audit"), AuditConfig { sinks, max_bytes: 1 << 30 })?;
    let event = |number: u32| Event {
        request_id: Some("0193528c-5ec0-7b12-b1f5-0a4b7f3c2d10".to_owned()),
        team: Some("default".to_owned()),
        key_id: Some("3f2a9c11d07b".to_owned()),
        username: Some("alice".to_owned()),
        status: Some(200),
        query: Some(format!("query {number}")),
        ..Event::new("search")
    };
    let started = Instant::now();
    (0..EVENTS).for_each(|number| audit.record(&event(number)));
    let recorded = started.elapsed();
    audit.deliver(std::future::ready(()), Duration::from_secs(600)).await;
    let delivered = started.elapsed() - recorded;
    println!(
        "{EVENTS} events: {:?} for each to record, {:?} to deliver",
        recorded / EVENTS,
        delivered / EVENTS
    );
    Ok(())
}
