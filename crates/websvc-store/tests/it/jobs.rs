//! Tests of jobs: leases, completions, limits, and a model with crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;
use websvc_store::{
    ApiVersion, CancelJobOutcome, CompletionOutcome, CreateJobOutcome, HoldOutcome, JobKind, JobLease,
    JobLimits, JobState, JobUrl, NewHosts, NewJob, Store, Team, UrlCompletion, UrlOutcome,
};

use crate::credits::{audit, give, hold_credits, remaining, usage};
use crate::engine::Rows;
use crate::fresh;

const DAY_MS: u64 = 86_400_000;

/// Leases URLs of a job.
pub(crate) fn lease_urls(store: &Store, job: i64, max: usize) -> Vec<JobLease> {
    store.lease_job_urls(job, max, NewHosts::Wanted).unwrap()
}

pub(crate) fn url(name: &str) -> JobUrl {
    JobUrl { url: format!("http://a.test/{name}"), key: name.to_owned(), depth: 0, entry: None }
}

pub(crate) fn job(id: &str, names: &[&str]) -> NewJob {
    NewJob {
        id: id.to_owned(),
        team: "tea".to_owned(),
        key: None,
        kind: JobKind::Batch,
        api_version: ApiVersion::V2,
        request: "{}".to_owned(),
        idempotency_key: None,
        page_limit: None,
        urls: names.iter().map(|name| url(name)).collect(),
        list_len: 0,
        webhook: None,
    }
}

#[track_caller]
pub(crate) fn create(store: &Store, job: &NewJob) -> i64 {
    let created = store.create_job(job, &JobLimits::default(), 0).unwrap();
    assert!(matches!(created, CreateJobOutcome::Created { .. }), "the job was not created");
    store.job(&job.team, job.kind, &job.id, 0).unwrap().expect("the job is there").number
}

/// Returns the outcome of a recorded page that costs nothing.
fn free(state: JobState) -> CompletionOutcome {
    CompletionOutcome::Recorded { state, charged: 0, has_event: state != JobState::Running }
}

#[track_caller]
pub(crate) fn complete_url(
    store: &Store,
    completion: UrlCompletion,
    limits: &JobLimits,
    now_ms: u64,
) -> CompletionOutcome {
    store.complete_job_urls(vec![completion.compress()], limits, now_ms).pop().unwrap().unwrap()
}

pub(crate) fn complete(store: &Store, lease: &JobLease, outcome: UrlOutcome) -> CompletionOutcome {
    complete_with(store, lease, outcome, None, &[])
}

pub(crate) fn complete_with(
    store: &Store,
    lease: &JobLease,
    outcome: UrlOutcome,
    alias: Option<&str>,
    found: &[&str],
) -> CompletionOutcome {
    let completion = UrlCompletion {
        aliases: alias.map(str::to_owned).into_iter().collect(),
        found: found.iter().map(|name| url(name)).collect(),
        ..UrlCompletion::new(lease.clone(), outcome)
    };
    complete_url(store, completion, &JobLimits::default(), 0)
}

pub(crate) fn document(text: &str) -> UrlOutcome {
    UrlOutcome::Document(text.as_bytes().to_vec())
}

pub(crate) fn names(leases: &[JobLease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.url.key.as_str()).collect()
}

#[test]
fn urls_are_added_once_and_leased_in_order() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a", "b", "a", "c"]));
    let first = lease_urls(&store, number, 2);
    assert_eq!(names(&first), ["a", "b"]);
    let rest = lease_urls(&store, number, 9);
    assert_eq!(names(&rest), ["c"]);
    assert_eq!(complete(&store, &first[1], document("2")), free(JobState::Running));
    assert_eq!(complete(&store, &rest[0], document("3")), free(JobState::Running));
    let failed = UrlOutcome::Failed { code: "X".to_owned(), error: "why".to_owned() };
    assert_eq!(complete(&store, &first[0], failed), free(JobState::Completed));
    let record = store.job_by_number(number).unwrap().unwrap();
    assert_eq!((record.urls, record.documents, record.bytes), (3, 2, 2));
    let page = store.job_documents(number, 0, 9, 100).unwrap();
    assert_eq!(page.documents, [b"2", b"3"], "in the order of their completion");
    let errors = store.job_errors(number, 9).unwrap();
    assert_eq!((errors.len(), errors[0].code.as_str(), errors[0].error.as_str()), (1, "X", "why"));
}

#[test]
fn lease_that_a_new_start_released_is_invalid() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a"]));
    let old = lease_urls(&store, number, 1).remove(0);
    assert_eq!(lease_urls(&store, number, 1), []);
    assert!(store.start_job(number, false).unwrap());
    let new = lease_urls(&store, number, 1).remove(0);
    assert_eq!(new.interruptions(), 0, "the work had not begun");
    assert_eq!(complete(&store, &old, document("old")), CompletionOutcome::LeaseLost);
    assert!(!store.release_job_url(&old).unwrap());
    assert_eq!(complete(&store, &new, document("new")), free(JobState::Completed));
    assert_eq!(complete(&store, &new, document("again")), CompletionOutcome::LeaseLost);
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [b"new"]);
}

#[test]
fn page_limit_bounds_the_leases() {
    let (_dir, store) = fresh();
    let number = create(&store, &NewJob { page_limit: Some(2), ..job("j", &["a", "b", "c", "d"]) });
    let leases = lease_urls(&store, number, 9);
    assert_eq!(names(&leases), ["a", "b"]);
    assert_eq!(complete(&store, &leases[0], UrlOutcome::Blocked), free(JobState::Running));
    assert_eq!(names(&lease_urls(&store, number, 9)), ["c"], "the blocked page does not count");
    complete(&store, &leases[1], document("b"));
    assert_eq!(lease_urls(&store, number, 9), []);
}

#[test]
fn page_with_a_taken_alias_is_dropped_and_not_charged() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "b"]));
    let leases = lease_urls(&store, number, 2);
    complete_with(&store, &leases[0], document("a"), Some("c"), &["c", "d"]);
    let charge = Some((hold_credits(&store, &team, 5), usage(3)));
    let duplicate = UrlCompletion {
        aliases: vec!["x".to_owned(), "c".to_owned()],
        found: vec![url("e")],
        charge,
        ..UrlCompletion::new(leases[1].clone(), document("b"))
    };
    complete_url(&store, duplicate, &JobLimits::default(), 0);
    assert_eq!(names(&lease_urls(&store, number, 9)), ["d", "e"], "c is an alias of a");
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [b"a"]);
    assert_eq!(remaining(&store, "tea"), 10);
    drop(store);
    audit(dir.path());
}

#[test]
fn document_pages_have_a_next_position_if_there_are_more() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a", "b", "c", "d"]));
    let read = |skip, max, bytes| {
        let page = store.job_documents(number, skip, max, bytes).unwrap();
        (page.documents.len(), page.next)
    };
    assert_eq!(read(0, 9, 100), (0, None));
    for lease in lease_urls(&store, number, 3) {
        complete(&store, &lease, document("12345"));
    }
    assert_eq!(read(0, 9, 100), (3, None), "a running job has no next page without more documents");
    assert_eq!(read(0, 2, 100), (2, Some(2)));
    assert_eq!(read(2, 2, 100), (1, None));
    assert_eq!(read(0, 9, 11), (2, Some(2)));
    assert_eq!(read(0, 9, 1), (1, Some(1)), "always one document");
    assert_eq!(read(u64::MAX, 9, 100), (0, None));
}

#[test]
fn cancelled_job_accepts_no_urls_and_charges_nothing() {
    let (_dir, store) = fresh();
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "b"]));
    let leases = lease_urls(&store, number, 2);
    complete(&store, &leases[0], document("a"));
    let cancel = |team: &str, kind| store.cancel_job(team, kind, "j", &JobLimits::default(), 5).unwrap();
    assert_eq!(cancel("cup", JobKind::Batch), CancelJobOutcome::NotFound);
    assert_eq!(cancel("tea", JobKind::Crawl), CancelJobOutcome::NotFound);
    assert_eq!(cancel("tea", JobKind::Batch), CancelJobOutcome::Cancelled);
    assert_eq!(cancel("tea", JobKind::Batch), CancelJobOutcome::AlreadyEnded(JobState::Cancelled));
    let late = UrlCompletion {
        charge: Some((hold_credits(&store, &team, 5), usage(5))),
        ..UrlCompletion::new(leases[1].clone(), document("b"))
    };
    assert_eq!(complete_url(&store, late, &JobLimits::default(), 6), CompletionOutcome::LeaseLost);
    assert_eq!(remaining(&store, "tea"), 10);
    assert_eq!(store.extend_job("tea", "j", &[url("c")], 1, &JobLimits::default(), 6).unwrap(), None);
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [b"a"]);
}

#[test]
fn job_limits_are_enforced() {
    let (_dir, store) = fresh();
    let limits =
        JobLimits { max_urls: 2, max_bytes: 3, max_running: 1, max_stored: 2, ..JobLimits::default() };
    let start = |id: &str, names: &[&str]| store.create_job(&job(id, names), &limits, 0).unwrap();
    assert_eq!(start("j", &["a", "b", "c"]), CreateJobOutcome::TooManyUrls);
    assert_eq!(start("j", &["a", "b"]), CreateJobOutcome::Created { urls: 2 });
    assert_eq!(start("k", &["a"]), CreateJobOutcome::TooManyRunning);
    assert_eq!(store.extend_job("tea", "j", &[url("c")], 1, &limits, 0).unwrap(), Some(0));
    let number = store.job("tea", JobKind::Batch, "j", 0).unwrap().unwrap().number;
    assert_eq!(store.job_by_number(number).unwrap().unwrap().skipped, 1);
    let lease = lease_urls(&store, number, 1).remove(0);
    let large = UrlCompletion::new(lease, document("1234"));
    assert_eq!(complete_url(&store, large, &limits, 0), free(JobState::Failed));
    assert_eq!(start("k", &["a"]), CreateJobOutcome::Created { urls: 1 });
    store.cancel_job("tea", JobKind::Batch, "k", &limits, 0).unwrap();
    assert_eq!(start("l", &["a"]), CreateJobOutcome::TooManyStored);
}

#[test]
fn documents_of_all_jobs_share_a_storage_limit() {
    let (dir, store) = fresh();
    let stored = || -> u64 {
        let number = |sql| Rows::open(dir.path()).number(sql);
        let counted = number("SELECT sum(bytes) FROM job_storage");
        assert_eq!(counted, number("SELECT coalesce(sum(length(document)), 0) FROM job_documents"));
        counted
    };
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "b", "c"]));
    let leases = lease_urls(&store, number, 3);
    complete(&store, &leases[0], document("12345"));
    let one = stored();
    assert!(one > 0);
    let limits = JobLimits { max_total_bytes: 2 * one, ..JobLimits::default() };
    let end = |lease: &JobLease, text: &str| {
        let charge = Some((hold_credits(&store, &team, 5), usage(5)));
        let page = UrlCompletion { charge, ..UrlCompletion::new(lease.clone(), document(text)) };
        complete_url(&store, page, &limits, 0)
    };
    assert_eq!(
        end(&leases[1], "12345"),
        CompletionOutcome::Recorded { state: JobState::Running, charged: 5, has_event: false }
    );
    assert_eq!(store.create_job(&job("k", &["a"]), &limits, 0).unwrap(), CreateJobOutcome::StorageFull);
    assert_eq!(end(&leases[2], "1"), free(JobState::Failed), "a document that is not stored costs nothing");
    let record = store.job_by_number(number).unwrap().unwrap();
    assert!(record.error.unwrap().contains(&limits.max_total_bytes.to_string()));
    assert_eq!((stored(), record.documents), (2 * one, 2), "earlier documents stay");
    while store.sweep_jobs(&limits, 3 * DAY_MS).unwrap() {}
    assert_eq!(stored(), 0);
    assert_eq!(
        store.create_job(&job("k", &["a"]), &limits, 0).unwrap(),
        CreateJobOutcome::Created { urls: 1 }
    );
}

#[test]
fn idempotency_key_is_unique_while_its_job_is_stored() {
    let (_dir, store) = fresh();
    let with = |id: &str, team: &str| NewJob {
        idempotency_key: Some("w".to_owned()),
        team: team.to_owned(),
        ..job(id, &["a"])
    };
    let limits = JobLimits::default();
    let start = |job: &NewJob, now_ms| store.create_job(job, &limits, now_ms).unwrap();
    assert_eq!(start(&with("j", "tea"), 0), CreateJobOutcome::Created { urls: 1 });
    assert_eq!(start(&with("k", "tea"), 0), CreateJobOutcome::IdempotencyKeyUsed);
    assert_eq!(start(&with("k", "cup"), 0), CreateJobOutcome::Created { urls: 1 });
    store.cancel_job("tea", JobKind::Batch, "j", &limits, 0).unwrap();
    assert_eq!(start(&with("l", "tea"), DAY_MS - 1), CreateJobOutcome::IdempotencyKeyUsed);
    assert_eq!(start(&with("l", "tea"), DAY_MS), CreateJobOutcome::Created { urls: 1 });
}

#[test]
fn overdue_jobs_fail_and_expired_jobs_are_deleted() {
    let (dir, store) = fresh();
    let many: Vec<String> = (0..1_200).map(|number| format!("p{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let number = create(&store, &job("j", &many));
    let lease = lease_urls(&store, number, 1).remove(0);
    complete(&store, &lease, document("1"));
    let limits = JobLimits::default();
    assert!(!store.sweep_jobs(&limits, DAY_MS - 1).unwrap());
    assert_eq!(store.job_by_number(number).unwrap().unwrap().state, JobState::Running);
    assert!(!store.sweep_jobs(&limits, DAY_MS).unwrap());
    let record = store.job("tea", JobKind::Batch, "j", DAY_MS).unwrap().unwrap();
    assert_eq!((record.state, record.expires_at_ms), (JobState::Failed, 2 * DAY_MS));
    assert_eq!(store.job("tea", JobKind::Batch, "j", 2 * DAY_MS).unwrap(), None, "even before the sweep");
    while store.sweep_jobs(&limits, 2 * DAY_MS).unwrap() {}
    let rows = |table: &str| Rows::open(dir.path()).number(&format!("SELECT count(*) FROM {table}"));
    assert_eq!((rows("jobs"), rows("job_urls"), rows("job_documents")), (0, 0, 0));
}

#[test]
fn new_team_with_an_old_name_sees_no_old_jobs() {
    let (_dir, store) = fresh();
    give(&store, "tea", None);
    let number = create(&store, &job("j", &["a"]));
    store.delete_team("tea").unwrap();
    give(&store, "tea", None);
    assert_eq!(store.job("tea", JobKind::Batch, "j", 0).unwrap(), None);
    assert_eq!(lease_urls(&store, number, 1), []);
    while store.sweep_jobs(&JobLimits::default(), 1).unwrap() {}
    assert_eq!(store.job_by_number(number).unwrap(), None);
}

/// A step of a worker.
#[derive(Debug, Clone)]
enum Step {
    /// Leases up to this many URLs.
    Lease(usize),
    /// Completes the lease at this index.
    Complete(usize, Outcome),
    /// Releases the lease at this index.
    Release(usize),
    /// Kills the process; the next one continues with the files on disk.
    Kill,
}

#[derive(Debug, Clone)]
enum Outcome {
    Document { price: u64, found: Vec<u8> },
    Failed,
    Blocked,
}

fn step() -> impl Strategy<Value = Step> {
    let found = prop::collection::vec(0..12_u8, 0..4);
    let outcome = prop_oneof![
        4 => (0..4_u64, found).prop_map(|(price, found)| Outcome::Document { price, found }),
        1 => Just(Outcome::Failed),
        1 => Just(Outcome::Blocked),
    ];
    prop_oneof![
        3 => (1..4_usize).prop_map(Step::Lease),
        5 => (0..4_usize, outcome).prop_map(|(index, outcome)| Step::Complete(index, outcome)),
        1 => (0..4_usize).prop_map(Step::Release),
        1 => Just(Step::Kill),
    ]
}

/// A worker, and the state that it expects in the store.
struct Model {
    dir: TempDir,
    store: Store,
    team: Team,
    number: i64,
    leases: Vec<JobLease>,
    /// The state of each completed URL.
    completed: BTreeMap<String, &'static str>,
    found: BTreeSet<String>,
    charged: u64,
}

const BUDGET: u64 = 10_000;

impl Model {
    fn new() -> Self {
        let (dir, store) = fresh();
        let team = give(&store, "tea", Some(BUDGET));
        let number = create(&store, &job("j", &["p0", "p1"]));
        let found = ["p0", "p1"].map(str::to_owned).into();
        Self { dir, store, team, number, leases: Vec::new(), completed: BTreeMap::new(), found, charged: 0 }
    }

    fn run(&mut self, step: &Step) {
        match step {
            Step::Lease(max) => {
                let leases = lease_urls(&self.store, self.number, *max);
                for lease in &leases {
                    assert!(!self.completed.contains_key(&lease.url.key), "{} again", lease.url.key);
                    assert!(self.leases.iter().all(|other| other.url.key != lease.url.key), "leased twice");
                }
                self.leases.extend(leases);
            }
            Step::Complete(index, outcome) if *index < self.leases.len() => self.complete(*index, outcome),
            Step::Release(index) if *index < self.leases.len() => {
                let lease = self.leases.remove(*index);
                assert!(self.store.release_job_url(&lease).unwrap());
            }
            Step::Complete(..) | Step::Release(_) => {}
            Step::Kill => self.kill(),
        }
    }

    fn complete(&mut self, index: usize, outcome: &Outcome) {
        let lease = self.leases.remove(index);
        let (outcome, state, price, found) = match outcome {
            Outcome::Document { price, found } => (document(&lease.url.key), "document", *price, &found[..]),
            Outcome::Failed => {
                let failed = UrlOutcome::Failed { code: "C".to_owned(), error: "E".to_owned() };
                (failed, "failed", 1, &[][..])
            }
            Outcome::Blocked => (UrlOutcome::Blocked, "blocked", 0, &[][..]),
        };
        let found: Vec<String> = found.iter().map(|number| format!("p{number}")).collect();
        let HoldOutcome::Granted(hold) = self.store.hold(&self.team, 4).unwrap() else {
            panic!("the team has enough credits")
        };
        let completion = UrlCompletion {
            found: found.iter().map(|name| url(name)).collect(),
            charge: Some((hold, usage(price))),
            ..UrlCompletion::new(lease.clone(), outcome)
        };
        let outcome = complete_url(&self.store, completion, &JobLimits::default(), 0);
        assert!(
            matches!(outcome, CompletionOutcome::Recorded { charged, .. } if charged == price),
            "the lease is valid"
        );
        self.completed.insert(lease.url.key, state);
        self.found.extend(found);
        self.charged += price;
    }

    /// Continues with a copy of the files on disk, as after the death of the process. The leases are lost.
    fn kill(&mut self) {
        let dir = tempfile::tempdir().unwrap();
        copy(self.dir.path(), dir.path());
        self.store = crate::open(dir.path());
        self.dir = dir;
        self.leases.clear();
        self.store.start_job(self.number, false).unwrap();
    }

    /// Completes all remaining URLs.
    fn complete_all(&mut self) {
        loop {
            self.run(&Step::Lease(3));
            if self.leases.is_empty() {
                return;
            }
            let outcome = Outcome::Document { price: 2, found: Vec::new() };
            while !self.leases.is_empty() {
                self.complete(0, &outcome);
            }
        }
    }

    fn check(self) {
        let Self { dir, store, number, completed, found, charged, .. } = self;
        assert_eq!(completed.keys().cloned().collect::<BTreeSet<_>>(), found, "every URL is completed");
        let record = store.job_by_number(number).unwrap().unwrap();
        let has = |expected| completed.values().any(|state| *state == expected);
        let is_failed = !has("document") && has("failed");
        assert_eq!(record.state, if is_failed { JobState::Failed } else { JobState::Completed });
        assert_eq!(record.credits, charged);
        let documents = store.job_documents(number, 0, 100, 1 << 20).unwrap().documents;
        let documents: Vec<String> =
            documents.into_iter().map(|json| String::from_utf8(json).unwrap()).collect();
        let unique: BTreeSet<String> = documents.iter().cloned().collect();
        assert_eq!(unique.len(), documents.len(), "a document twice");
        let expected: BTreeSet<String> = completed
            .iter()
            .filter(|(_, state)| **state == "document")
            .map(|(name, _)| name.clone())
            .collect();
        assert_eq!(unique, expected);
        assert_eq!(record.documents, expected.len() as u64);
        assert_eq!(remaining(&store, "tea"), BUDGET - charged);
        drop(store);
        audit(dir.path());
    }
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_url_is_completed_and_charged_once_despite_crashes(steps in prop::collection::vec(step(), 0..40)) {
        let mut model = Model::new();
        for step in &steps {
            model.run(step);
        }
        model.kill();
        model.complete_all();
        model.check();
    }
}
