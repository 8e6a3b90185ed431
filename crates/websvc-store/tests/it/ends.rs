//! Pages of jobs that end at one time, and the limit that they come to.

use std::time::Duration;

use websvc_store::{CompletionOutcome, JobLease, JobLimits, JobState, NewJob, UrlCompletion, UrlOutcome};

use crate::credits::{audit, enough, give, remaining, usage};
use crate::jobs::{create, document, finish, finish_with, job, names, url};
use crate::{fresh, sqlite};

const LIFE: Duration = Duration::from_secs(60);

#[test]
fn pages_that_end_together_end_as_each_alone() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "lost", "bad", "b"]));
    let leases = store.lease_job_urls(number, 4, 0, LIFE).unwrap();
    assert!(store.release_job_url(&leases[1]).unwrap());
    let refused = "CREATE TRIGGER refused BEFORE INSERT ON job_documents WHEN NEW.bytes = 3 \
                   BEGIN SELECT RAISE(ABORT, 'not this one'); END";
    sqlite(dir.path()).execute_batch(refused).unwrap();
    let texts = ["1", "22", "333", "4444"];
    let end = |(lease, text): (&JobLease, &str)| {
        let charge = Some((enough(&store, &team, 2), usage(2)));
        let (end, found) = (document(text), vec![url(&format!("found on {}", lease.url.key))]);
        UrlCompletion { lease: lease.clone(), end, aliases: Vec::new(), led_to: None, found, charge }.pack()
    };
    let finishes = leases.iter().zip(texts).map(end).collect();
    let ended = store.finish_job_urls(finishes, &JobLimits::default(), 0);
    let noted = CompletionOutcome::Recorded { state: JobState::Running, charged: 2, has_event: false };
    assert!(
        matches!(&ended[..], [Ok(a), Ok(CompletionOutcome::LeaseLost), Err(_), Ok(b)] if *a == noted && *b == noted)
    );
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [&b"1"[..], b"4444"]);
    let open = store.lease_job_urls(number, 9, LIFE.as_millis() as u64, LIFE).unwrap();
    assert_eq!(names(&open), ["lost", "bad", "found on a", "found on b"]);
    assert_eq!(remaining(&store, "tea"), 6);
    drop(store);
    audit(dir.path());
}

#[test]
fn a_limit_far_away_is_kept_to_when_it_comes_near() {
    let (_dir, store) = fresh();
    let names: Vec<String> = (0..1_100).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let number = create(&store, &NewJob { page_limit: Some(1_060), ..job("j", &names) });
    let mut lent = 0;
    loop {
        let leases = store.lease_job_urls(number, 16, 0, LIFE).unwrap();
        if leases.is_empty() {
            break;
        }
        // Some are done at once, and others never.
        for lease in leases.iter().step_by(2) {
            finish(&store, lease, document("x"));
        }
        lent += leases.len();
    }
    assert_eq!(lent, 1_060);
}

#[test]
fn of_pages_that_lead_to_each_other_one_stays() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a", "b", "c", "d"]));
    let leases = store.lease_job_urls(number, 9, 0, LIFE).unwrap();
    finish_with(&store, &leases[0], document("a"), Some("b"), &[]);
    finish_with(&store, &leases[1], document("b"), Some("a"), &[]);
    let failed = UrlOutcome::Failed { code: "SCRAPE_TIMEOUT".to_owned(), error: "late".to_owned() };
    finish_with(&store, &leases[2], failed, None, &[]);
    finish_with(&store, &leases[3], document("d"), Some("c"), &[]);
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [b"b", b"d"]);
}

#[test]
fn what_a_full_job_left_waiting_is_not_counted() {
    let (_dir, store) = fresh();
    let number = create(&store, &NewJob { page_limit: Some(1), ..job("j", &["a", "b", "c"]) });
    let lease = store.lease_job_urls(number, 1, 0, LIFE).unwrap().remove(0);
    finish_with(&store, &lease, document("a"), None, &["d"]);
    let job = store.job_by_number(number).unwrap().unwrap();
    assert_eq!((job.state, job.documents, job.urls), (JobState::Completed, 1, 1));
}

#[test]
fn a_url_is_tried_again_as_often_as_it_was_asked_for_and_not_as_often_as_it_was_lent() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a"]));
    let lend = || store.lease_job_urls(number, 1, 0, LIFE).unwrap().remove(0);
    lend();
    assert_eq!(store.end_leases_of_job(number).unwrap(), 1);
    assert_eq!(store.end_leases_of_job(number + 1).unwrap(), 0);
    assert!(store.release_job_url(&lend()).unwrap());
    let third = lend();
    assert_eq!((third.attempt(), third.retries()), (3, 0));
    assert!(store.retry_job_url(&third).unwrap());
    let fourth = lend();
    assert_eq!((fourth.attempt(), fourth.retries()), (4, 1));
    assert!(!store.retry_job_url(&third).unwrap(), "it was given back already");
}
