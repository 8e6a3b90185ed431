//! Pages of jobs that end at one time, and the limit that they come to.

use std::time::Duration;

use websvc_store::{JobLease, JobLimits, JobState, NewJob, PageFinish, PageFinished};

use crate::credits::{audit, enough, give, remaining, usage};
use crate::jobs::{create, document, finish, job, names, url};
use crate::{fresh, sqlite};

const LIFE: Duration = Duration::from_secs(60);

#[test]
fn pages_that_end_together_end_as_each_alone() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "lost", "bad", "b"]));
    let leases = store.lease_job_urls(number, 4, 0, LIFE).unwrap();
    assert!(store.return_job_url(&leases[1]).unwrap());
    let refused = "CREATE TRIGGER refused BEFORE INSERT ON job_documents WHEN NEW.bytes = 3 \
                   BEGIN SELECT RAISE(ABORT, 'not this one'); END";
    sqlite(dir.path()).execute_batch(refused).unwrap();
    let texts = ["1", "22", "333", "4444"];
    let end = |(lease, text): (&JobLease, &str)| {
        let charge = Some((enough(&store, &team, 2), usage(2)));
        let (end, found) = (document(text), vec![url(&format!("found on {}", lease.url.key))]);
        PageFinish { lease: lease.clone(), end, aliases: Vec::new(), found, charge }.pack()
    };
    let finishes = leases.iter().zip(texts).map(end).collect();
    let ended = store.finish_job_urls(finishes, &JobLimits::default(), 0);
    let noted = PageFinished::Noted { state: JobState::Running, charged: 2 };
    assert!(
        matches!(&ended[..], [Ok(a), Ok(PageFinished::LeaseLost), Err(_), Ok(b)] if *a == noted && *b == noted)
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
