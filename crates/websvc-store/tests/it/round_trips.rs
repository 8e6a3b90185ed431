//! The number of round trips to a server, each of which takes a millisecond or more in a data centre.

use std::time::{Duration, Instant};

use websvc_store::{CompletionOutcome, HoldOutcome, JobLimits, NewHosts, UrlCompletion};

use crate::credits::{give, hold_credits, usage};
use crate::jobs::{create, document, job};
use crate::server::{on_server, open_delayed};

const PAGES: usize = 128;

#[test]
fn page_of_a_batch_takes_at_most_three_round_trips() {
    let Some((dir, first)) = on_server() else { return };
    drop(first);
    // Statements that are sent together have all been sent before the first response arrives.
    let (forwarder, store) = open_delayed(&dir, Duration::from_millis(2));
    let team = give(&store, "tea", Some(10_000));
    let names: Vec<String> = (0..2 * PAGES).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let number = create(&store, &job("j", &names));
    // A job holds credits of the lease of its process without the server.
    let hold = || match store.try_hold(&team, 1).unwrap() {
        Some(HoldOutcome::Granted(hold)) => hold,
        _ => hold_credits(&store, &team, 1),
    };
    let run = |pages: usize| {
        for _ in 0..pages / 16 {
            for lease in store.lease_job_urls(number, 16, NewHosts::Wanted).unwrap() {
                assert!(store.begin_job_url(&lease).unwrap());
                let charge = Some((hold(), usage(1)));
                let completion = UrlCompletion { charge, ..UrlCompletion::new(lease, document("text")) };
                let outcomes = store.complete_job_urls(vec![completion.compress()], &JobLimits::default(), 0);
                assert!(matches!(outcomes[..], [Ok(CompletionOutcome::Recorded { charged: 1, .. })]));
            }
        }
    };
    // The first pages prepare the statements and borrow credits.
    run(PAGES);
    let (before, started) = (forwarder.round_trips(), Instant::now());
    run(PAGES);
    let round_trips = forwarder.round_trips() - before;
    // The threads of the store have some each second.
    let background = 10 + 30 * started.elapsed().as_secs();
    assert!(round_trips <= 3 * PAGES as u64 + background, "{round_trips} round trips for {PAGES} pages");
}
