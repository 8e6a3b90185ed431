//! Tests of completions: batches, page limits, aliases, retries.

use websvc_store::{CompletionOutcome, JobLease, JobLimits, JobState, NewJob, UrlCompletion, UrlOutcome};

use crate::credits::{audit, give, hold_credits, remaining, usage};
use crate::engine::{Rows, is_server};
use crate::fresh;
use crate::jobs::{complete, complete_with, create, document, job, lease_urls, names, url};

#[test]
fn batch_of_completions_has_the_outcomes_of_single_ones() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "lost", "bad", "b"]));
    let leases = lease_urls(&store, number, 4);
    assert!(store.release_job_url(&leases[1]).unwrap());
    let trigger = if is_server() {
        "ALTER TABLE job_documents ADD CHECK (bytes <> 3)"
    } else {
        "CREATE TRIGGER rejected BEFORE INSERT ON job_documents WHEN NEW.bytes = 3 \
         BEGIN SELECT RAISE(ABORT, 'rejected'); END"
    };
    Rows::open(dir.path()).execute(trigger);
    let texts = ["1", "22", "333", "4444"];
    let completion = |(lease, text): (&JobLease, &str)| {
        let charge = Some((hold_credits(&store, &team, 2), usage(2)));
        let found = vec![url(&format!("found on {}", lease.url.key))];
        UrlCompletion { found, charge, ..UrlCompletion::new(lease.clone(), document(text)) }.compress()
    };
    let completions = leases.iter().zip(texts).map(completion).collect();
    let outcomes = store.complete_job_urls(completions, &JobLimits::default(), 0);
    let recorded = CompletionOutcome::Recorded { state: JobState::Running, charged: 2, has_event: false };
    assert!(matches!(
        &outcomes[..],
        [Ok(a), Ok(CompletionOutcome::LeaseLost), Err(_), Ok(b)] if *a == recorded && *b == recorded
    ));
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [&b"1"[..], b"4444"]);
    assert!(store.start_job(number, false).unwrap());
    let open = lease_urls(&store, number, 9);
    assert_eq!(names(&open), ["lost", "bad", "found on a", "found on b"]);
    assert_eq!(remaining(&store, "tea"), 6);
    drop(store);
    audit(dir.path());
}

#[test]
fn high_page_limit_is_not_exceeded_by_leases() {
    let (_dir, store) = fresh();
    let names: Vec<String> = (0..1_100).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let number = create(&store, &NewJob { page_limit: Some(1_060), ..job("j", &names) });
    let mut leased = 0;
    loop {
        let leases = lease_urls(&store, number, 16);
        if leases.is_empty() {
            break;
        }
        // Half of them are completed at once, the others never.
        for lease in leases.iter().step_by(2) {
            complete(&store, lease, document("x"));
        }
        leased += leases.len();
    }
    assert_eq!(leased, 1_060);
}

#[test]
fn of_pages_that_redirect_to_each_other_one_remains() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a", "b", "c", "d"]));
    let leases = lease_urls(&store, number, 9);
    complete_with(&store, &leases[0], document("a"), Some("b"), &[]);
    complete_with(&store, &leases[1], document("b"), Some("a"), &[]);
    let failed = UrlOutcome::Failed { code: "SCRAPE_TIMEOUT".to_owned(), error: "late".to_owned() };
    complete_with(&store, &leases[2], failed, None, &[]);
    complete_with(&store, &leases[3], document("d"), Some("c"), &[]);
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [b"b", b"d"]);
}

#[test]
fn queued_urls_of_a_complete_job_are_not_counted() {
    let (_dir, store) = fresh();
    let number = create(&store, &NewJob { page_limit: Some(1), ..job("j", &["a", "b", "c"]) });
    let lease = lease_urls(&store, number, 1).remove(0);
    complete_with(&store, &lease, document("a"), None, &["d"]);
    let job = store.job_by_number(number).unwrap().unwrap();
    assert_eq!((job.state, job.documents, job.urls), (JobState::Completed, 1, 1));
}

#[test]
fn retries_are_counted_separately_from_leases() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a"]));
    let lease = || lease_urls(&store, number, 1).remove(0);
    lease();
    store.start_job(number, false).unwrap();
    assert!(store.release_job_url(&lease()).unwrap());
    let third = lease();
    assert_eq!(third.retries(), 0);
    assert!(store.retry_job_url(&third).unwrap());
    let fourth = lease();
    assert_eq!(fourth.retries(), 1);
    assert!(!store.retry_job_url(&third).unwrap(), "the third lease has ended");
}
