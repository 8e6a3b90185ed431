//! Jobs: each URL once, whatever dies in between.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;
use websvc_store::{
    CancelJobOutcome, CompletionOutcome, CreateJobOutcome, HoldOutcome, JobKind, JobLease, JobLimits,
    JobState, JobUrl, NewJob, Store, Team, UrlCompletion, UrlOutcome,
};

use crate::credits::{audit, enough, give, remaining, usage};
use crate::{fresh, sqlite};

const LIFE: Duration = Duration::from_secs(60);
const DAY_MS: u64 = 86_400_000;

pub(crate) fn url(name: &str) -> JobUrl {
    JobUrl { url: format!("http://a.test/{name}"), key: name.to_owned(), depth: 0, entry: None }
}

pub(crate) fn job(id: &str, names: &[&str]) -> NewJob {
    NewJob {
        id: id.to_owned(),
        team: "tea".to_owned(),
        key: None,
        kind: JobKind::Batch,
        request: "{}".to_owned(),
        idempotency: None,
        page_limit: None,
        urls: names.iter().map(|name| url(name)).collect(),
        listed: 0,
        webhook: None,
    }
}

#[track_caller]
pub(crate) fn create(store: &Store, job: &NewJob) -> i64 {
    let created = store.create_job(job, &JobLimits::default(), 0).unwrap();
    assert!(matches!(created, CreateJobOutcome::Created { .. }), "the job was not created");
    store.job(&job.team, job.kind, &job.id, 0).unwrap().expect("the job is there").number
}

/// A page that costs nothing was noted.
fn free(state: JobState) -> CompletionOutcome {
    CompletionOutcome::Recorded { state, charged: 0, has_event: state != JobState::Running }
}

pub(crate) fn finish(store: &Store, lease: &JobLease, end: UrlOutcome) -> CompletionOutcome {
    finish_with(store, lease, end, None, &[])
}

pub(crate) fn finish_with(
    store: &Store,
    lease: &JobLease,
    end: UrlOutcome,
    alias: Option<&str>,
    found: &[&str],
) -> CompletionOutcome {
    let finish = UrlCompletion {
        lease: lease.clone(),
        end,
        aliases: alias.map(str::to_owned).into_iter().collect(),
        led_to: None,
        found: found.iter().map(|name| url(name)).collect(),
        charge: None,
    };
    store.finish_job_url(finish, &JobLimits::default(), 0).unwrap()
}

pub(crate) fn document(text: &str) -> UrlOutcome {
    UrlOutcome::Document(text.as_bytes().to_vec())
}

pub(crate) fn names(leases: &[JobLease]) -> Vec<&str> {
    leases.iter().map(|lease| lease.url.key.as_str()).collect()
}

#[test]
fn urls_are_taken_once_and_leased_in_their_order() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a", "b", "a", "c"]));
    let first = store.lease_job_urls(number, 2, 0, LIFE).unwrap();
    assert_eq!(names(&first), ["a", "b"]);
    let rest = store.lease_job_urls(number, 9, 0, LIFE).unwrap();
    assert_eq!(names(&rest), ["c"]);
    assert_eq!(finish(&store, &first[1], document("2")), free(JobState::Running));
    assert_eq!(finish(&store, &rest[0], document("3")), free(JobState::Running));
    let failed = UrlOutcome::Failed { code: "X".to_owned(), error: "why".to_owned() };
    assert_eq!(finish(&store, &first[0], failed), free(JobState::Completed));
    let record = store.job_by_number(number).unwrap().unwrap();
    assert_eq!((record.urls, record.documents, record.bytes), (3, 2, 2));
    let page = store.job_documents(number, 0, 9, 100).unwrap();
    assert_eq!(page.documents, [b"2", b"3"], "in the order of their completion");
    let errors = store.job_errors(number, 9).unwrap();
    assert_eq!((errors.len(), errors[0].code.as_str(), errors[0].error.as_str()), (1, "X", "why"));
}

#[test]
fn a_lease_that_ran_out_is_given_anew_and_the_old_one_is_worth_nothing() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a"]));
    let old = store.lease_job_urls(number, 1, 0, LIFE).unwrap().remove(0);
    let end_ms = LIFE.as_millis() as u64;
    assert_eq!(store.lease_job_urls(number, 1, end_ms - 1, LIFE).unwrap(), []);
    let new = store.lease_job_urls(number, 1, end_ms, LIFE).unwrap().remove(0);
    assert_eq!((old.attempt(), new.attempt()), (1, 2));
    assert_eq!(finish(&store, &old, document("old")), CompletionOutcome::LeaseLost);
    assert!(!store.release_job_url(&old).unwrap());
    assert_eq!(finish(&store, &new, document("new")), free(JobState::Completed));
    assert_eq!(finish(&store, &new, document("again")), CompletionOutcome::LeaseLost);
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [b"new"]);
}

#[test]
fn a_limit_of_documents_leaves_room_for_no_more() {
    let (_dir, store) = fresh();
    let number = create(&store, &NewJob { page_limit: Some(2), ..job("j", &["a", "b", "c", "d"]) });
    let leases = store.lease_job_urls(number, 9, 0, LIFE).unwrap();
    assert_eq!(names(&leases), ["a", "b"]);
    assert_eq!(finish(&store, &leases[0], UrlOutcome::Blocked), free(JobState::Running));
    assert_eq!(names(&store.lease_job_urls(number, 9, 0, LIFE).unwrap()), ["c"], "the blocked one left room");
    finish(&store, &leases[1], document("b"));
    assert_eq!(store.lease_job_urls(number, 9, 0, LIFE).unwrap(), []);
}

#[test]
fn a_page_met_under_another_url_is_dropped_and_not_charged() {
    let (dir, store) = fresh();
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "b"]));
    let leases = store.lease_job_urls(number, 2, 0, LIFE).unwrap();
    finish_with(&store, &leases[0], document("a"), Some("c"), &["c", "d"]);
    let charge = Some((enough(&store, &team, 5), usage(3)));
    let twin = UrlCompletion {
        lease: leases[1].clone(),
        end: document("b"),
        aliases: vec!["x".to_owned(), "c".to_owned()],
        led_to: None,
        found: vec![url("e")],
        charge,
    };
    store.finish_job_url(twin, &JobLimits::default(), 0).unwrap();
    assert_eq!(names(&store.lease_job_urls(number, 9, 0, LIFE).unwrap()), ["d", "e"], "c is a");
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [b"a"]);
    assert_eq!(remaining(&store, "tea"), 10);
    drop(store);
    audit(dir.path());
}

#[test]
fn pages_of_documents_say_whether_there_are_more() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a", "b", "c", "d"]));
    let read = |skip, most, bytes| {
        let page = store.job_documents(number, skip, most, bytes).unwrap();
        (page.documents.len(), page.next)
    };
    assert_eq!(read(0, 9, 100), (0, None));
    for lease in store.lease_job_urls(number, 3, 0, LIFE).unwrap() {
        finish(&store, &lease, document("12345"));
    }
    assert_eq!(read(0, 9, 100), (3, None), "a job that runs has no next page by that alone");
    assert_eq!(read(0, 2, 100), (2, Some(2)));
    assert_eq!(read(2, 2, 100), (1, None));
    assert_eq!(read(0, 9, 11), (2, Some(2)));
    assert_eq!(read(0, 9, 1), (1, Some(1)), "one in any case");
    assert_eq!(read(u64::MAX, 9, 100), (0, None));
}

#[test]
fn a_cancelled_job_takes_no_more_and_charges_no_more() {
    let (_dir, store) = fresh();
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "b"]));
    let leases = store.lease_job_urls(number, 2, 0, LIFE).unwrap();
    finish(&store, &leases[0], document("a"));
    let cancel = |team: &str, kind| store.cancel_job(team, kind, "j", &JobLimits::default(), 5).unwrap();
    assert_eq!(cancel("cup", JobKind::Batch), CancelJobOutcome::Unknown);
    assert_eq!(cancel("tea", JobKind::Crawl), CancelJobOutcome::Unknown);
    assert_eq!(cancel("tea", JobKind::Batch), CancelJobOutcome::Cancelled);
    assert_eq!(cancel("tea", JobKind::Batch), CancelJobOutcome::Ended(JobState::Cancelled));
    let late = UrlCompletion {
        lease: leases[1].clone(),
        end: document("b"),
        aliases: Vec::new(),
        led_to: None,
        found: Vec::new(),
        charge: Some((enough(&store, &team, 5), usage(5))),
    };
    assert_eq!(store.finish_job_url(late, &JobLimits::default(), 6).unwrap(), CompletionOutcome::LeaseLost);
    assert_eq!(remaining(&store, "tea"), 10);
    assert_eq!(store.extend_job("tea", "j", &[url("c")], 1, &JobLimits::default(), 6).unwrap(), None);
    assert_eq!(store.job_documents(number, 0, 9, 100).unwrap().documents, [b"a"]);
}

#[test]
fn bounds_are_kept() {
    let (_dir, store) = fresh();
    let limits = JobLimits { urls: 2, bytes: 3, running: 1, kept: 2, ..JobLimits::default() };
    let start = |id: &str, names: &[&str]| store.create_job(&job(id, names), &limits, 0).unwrap();
    assert_eq!(start("j", &["a", "b", "c"]), CreateJobOutcome::TooManyUrls);
    assert_eq!(start("j", &["a", "b"]), CreateJobOutcome::Created { urls: 2 });
    assert_eq!(start("k", &["a"]), CreateJobOutcome::TooManyRunning);
    assert_eq!(store.extend_job("tea", "j", &[url("c")], 1, &limits, 0).unwrap(), Some(0));
    let number = store.job("tea", JobKind::Batch, "j", 0).unwrap().unwrap().number;
    assert_eq!(store.job_by_number(number).unwrap().unwrap().left_out, 1);
    let lease = store.lease_job_urls(number, 1, 0, LIFE).unwrap().remove(0);
    let large = UrlCompletion {
        lease,
        end: document("1234"),
        aliases: Vec::new(),
        led_to: None,
        found: Vec::new(),
        charge: None,
    };
    assert_eq!(store.finish_job_url(large, &limits, 0).unwrap(), free(JobState::Failed));
    assert_eq!(start("k", &["a"]), CreateJobOutcome::Created { urls: 1 });
    store.cancel_job("tea", JobKind::Batch, "k", &limits, 0).unwrap();
    assert_eq!(start("l", &["a"]), CreateJobOutcome::TooManyKept);
}

#[test]
fn the_documents_of_all_jobs_have_a_bound_of_their_own() {
    let (dir, store) = fresh();
    let stored = || -> u64 {
        let [counted, summed] =
            ["SELECT bytes FROM job_storage", "SELECT ifnull(sum(length(document)), 0) FROM job_documents"]
                .map(|sql| sqlite(dir.path()).query_row(sql, [], |row| row.get::<_, u64>(0)).unwrap());
        assert_eq!(counted, summed);
        counted
    };
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "b", "c"]));
    let leases = store.lease_job_urls(number, 3, 0, LIFE).unwrap();
    finish(&store, &leases[0], document("12345"));
    let one = stored();
    assert!(one > 0);
    let limits = JobLimits { total_bytes: 2 * one, ..JobLimits::default() };
    let end = |lease: &JobLease, text: &str| {
        let charge = Some((enough(&store, &team, 5), usage(5)));
        let (aliases, found) = (Vec::new(), Vec::new());
        let page =
            UrlCompletion { lease: lease.clone(), end: document(text), aliases, led_to: None, found, charge };
        store.finish_job_url(page, &limits, 0).unwrap()
    };
    assert_eq!(
        end(&leases[1], "12345"),
        CompletionOutcome::Recorded { state: JobState::Running, charged: 5, has_event: false }
    );
    assert_eq!(store.create_job(&job("k", &["a"]), &limits, 0).unwrap(), CreateJobOutcome::NoRoom);
    assert_eq!(end(&leases[2], "1"), free(JobState::Failed), "what finds no room costs nothing");
    let record = store.job_by_number(number).unwrap().unwrap();
    assert!(record.error.unwrap().contains(&limits.total_bytes.to_string()));
    assert_eq!((stored(), record.documents), (2 * one, 2), "what was there stays");
    while store.sweep_jobs(&limits, 3 * DAY_MS).unwrap() {}
    assert_eq!(stored(), 0);
    assert_eq!(
        store.create_job(&job("k", &["a"]), &limits, 0).unwrap(),
        CreateJobOutcome::Created { urls: 1 }
    );
}

#[test]
fn a_word_is_used_once_for_as_long_as_its_job_is_kept() {
    let (_dir, store) = fresh();
    let with = |id: &str, team: &str| NewJob {
        idempotency: Some("w".to_owned()),
        team: team.to_owned(),
        ..job(id, &["a"])
    };
    let limits = JobLimits::default();
    let start = |job: &NewJob, now_ms| store.create_job(job, &limits, now_ms).unwrap();
    assert_eq!(start(&with("j", "tea"), 0), CreateJobOutcome::Created { urls: 1 });
    assert_eq!(start(&with("k", "tea"), 0), CreateJobOutcome::KeyUsed);
    assert_eq!(start(&with("k", "cup"), 0), CreateJobOutcome::Created { urls: 1 });
    store.cancel_job("tea", JobKind::Batch, "j", &limits, 0).unwrap();
    assert_eq!(start(&with("l", "tea"), DAY_MS - 1), CreateJobOutcome::KeyUsed);
    assert_eq!(start(&with("l", "tea"), DAY_MS), CreateJobOutcome::Created { urls: 1 });
}

#[test]
fn old_jobs_end_and_go() {
    let (dir, store) = fresh();
    let many: Vec<String> = (0..1_200).map(|number| format!("p{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let number = create(&store, &job("j", &many));
    let lease = store.lease_job_urls(number, 1, 0, LIFE).unwrap().remove(0);
    finish(&store, &lease, document("1"));
    let limits = JobLimits::default();
    assert!(!store.sweep_jobs(&limits, DAY_MS - 1).unwrap());
    assert_eq!(store.job_by_number(number).unwrap().unwrap().state, JobState::Running);
    assert!(!store.sweep_jobs(&limits, DAY_MS).unwrap());
    let record = store.job("tea", JobKind::Batch, "j", DAY_MS).unwrap().unwrap();
    assert_eq!((record.state, record.expires_at_ms), (JobState::Failed, 2 * DAY_MS));
    assert_eq!(store.job("tea", JobKind::Batch, "j", 2 * DAY_MS).unwrap(), None, "before it is swept, too");
    while store.sweep_jobs(&limits, 2 * DAY_MS).unwrap() {}
    let rows = |table: &str| -> i64 {
        sqlite(dir.path()).query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!((rows("jobs"), rows("job_urls"), rows("job_documents")), (0, 0, 0));
}

#[test]
fn a_later_team_of_the_name_sees_no_job_of_the_former() {
    let (_dir, store) = fresh();
    give(&store, "tea", None);
    let number = create(&store, &job("j", &["a"]));
    store.delete_team("tea").unwrap();
    give(&store, "tea", None);
    assert_eq!(store.job("tea", JobKind::Batch, "j", 0).unwrap(), None);
    assert_eq!(store.lease_job_urls(number, 1, 0, LIFE).unwrap(), []);
    while store.sweep_jobs(&JobLimits::default(), 1).unwrap() {}
    assert_eq!(store.job_by_number(number).unwrap(), None);
}

/// Next step of a worker.
#[derive(Debug, Clone)]
enum Step {
    Lease(usize),
    /// Ends the lease at this place of those held.
    End(usize, Ending),
    Return(usize),
    /// The machine stops as it is, and goes on from what is on the disk.
    Kill,
}

#[derive(Debug, Clone)]
enum Ending {
    Document { price: u64, found: Vec<u8> },
    Failed,
    Blocked,
}

fn step() -> impl Strategy<Value = Step> {
    let found = prop::collection::vec(0..12_u8, 0..4);
    let ending = prop_oneof![
        4 => (0..4_u64, found).prop_map(|(price, found)| Ending::Document { price, found }),
        1 => Just(Ending::Failed),
        1 => Just(Ending::Blocked),
    ];
    prop_oneof![
        3 => (1..4_usize).prop_map(Step::Lease),
        5 => (0..4_usize, ending).prop_map(|(at, ending)| Step::End(at, ending)),
        1 => (0..4_usize).prop_map(Step::Return),
        1 => Just(Step::Kill),
    ]
}

/// A worker, and what it knows to be true.
struct Model {
    dir: TempDir,
    store: Store,
    team: Team,
    number: i64,
    held: Vec<JobLease>,
    /// Recorded outcome of each URL.
    ended: BTreeMap<String, &'static str>,
    met: BTreeSet<String>,
    charged: u64,
}

const BUDGET: u64 = 10_000;

impl Model {
    fn new() -> Self {
        let (dir, store) = fresh();
        let team = give(&store, "tea", Some(BUDGET));
        let number = create(&store, &job("j", &["p0", "p1"]));
        let met = ["p0", "p1"].map(str::to_owned).into();
        Self { dir, store, team, number, held: Vec::new(), ended: BTreeMap::new(), met, charged: 0 }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Lease(most) => {
                let leases = self.store.lease_job_urls(self.number, *most, 0, LIFE).unwrap();
                for lease in &leases {
                    assert!(!self.ended.contains_key(&lease.url.key), "{} again", lease.url.key);
                    assert!(self.held.iter().all(|held| held.url.key != lease.url.key), "lent twice");
                }
                self.held.extend(leases);
            }
            Step::End(at, ending) if *at < self.held.len() => self.end(*at, ending),
            Step::Return(at) if *at < self.held.len() => {
                let lease = self.held.remove(*at);
                assert!(self.store.release_job_url(&lease).unwrap());
            }
            Step::End(..) | Step::Return(_) => {}
            Step::Kill => self.kill(),
        }
    }

    fn end(&mut self, at: usize, ending: &Ending) {
        let lease = self.held.remove(at);
        let (end, word, price, found) = match ending {
            Ending::Document { price, found } => (document(&lease.url.key), "document", *price, &found[..]),
            Ending::Failed => {
                let failed = UrlOutcome::Failed { code: "C".to_owned(), error: "E".to_owned() };
                (failed, "failed", 1, &[][..])
            }
            Ending::Blocked => (UrlOutcome::Blocked, "blocked", 0, &[][..]),
        };
        let found: Vec<String> = found.iter().map(|number| format!("p{number}")).collect();
        let HoldOutcome::Granted(hold) = self.store.hold(&self.team, 4).unwrap() else {
            panic!("there are enough")
        };
        let finish = UrlCompletion {
            lease: lease.clone(),
            end,
            aliases: Vec::new(),
            led_to: None,
            found: found.iter().map(|name| url(name)).collect(),
            charge: Some((hold, usage(price))),
        };
        let finished = self.store.finish_job_url(finish, &JobLimits::default(), 0).unwrap();
        assert!(
            matches!(finished, CompletionOutcome::Recorded { charged, .. } if charged == price),
            "the lease is this worker's"
        );
        self.ended.insert(lease.url.key, word);
        self.met.extend(found);
        self.charged += price;
    }

    /// Goes on with a copy of what is on the disk, as after a loss of the process; what was held is lost.
    fn kill(&mut self) {
        let dir = tempfile::tempdir().unwrap();
        copy(self.dir.path(), dir.path());
        self.store = Store::open(dir.path()).unwrap();
        self.dir = dir;
        self.held.clear();
        self.store.end_job_leases().unwrap();
    }

    fn work_off(&mut self) {
        loop {
            self.take(&Step::Lease(3));
            if self.held.is_empty() {
                return;
            }
            let all = Ending::Document { price: 2, found: Vec::new() };
            while !self.held.is_empty() {
                self.end(0, &all);
            }
        }
    }

    fn check(self) {
        let Self { dir, store, number, ended, met, charged, .. } = self;
        assert_eq!(ended.keys().cloned().collect::<BTreeSet<_>>(), met, "every URL has its end");
        let record = store.job_by_number(number).unwrap().unwrap();
        let has = |end| ended.values().any(|word| *word == end);
        let is_failed = !has("document") && has("failed");
        assert_eq!(record.state, if is_failed { JobState::Failed } else { JobState::Completed });
        assert_eq!(record.credits, charged);
        let documents = store.job_documents(number, 0, 100, 1 << 20).unwrap().documents;
        let got: Vec<String> = documents.into_iter().map(|json| String::from_utf8(json).unwrap()).collect();
        let once: BTreeSet<String> = got.iter().cloned().collect();
        assert_eq!(once.len(), got.len(), "a document twice");
        let expected: BTreeSet<String> =
            ended.iter().filter(|(_, word)| **word == "document").map(|(name, _)| name.clone()).collect();
        assert_eq!(once, expected);
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
    fn whatever_dies_every_url_is_done_and_charged_once(steps in prop::collection::vec(step(), 0..40)) {
        let mut model = Model::new();
        for step in &steps {
            model.take(step);
        }
        model.kill();
        model.work_off();
        // Nothing may be left over even where nothing was left to do.
        model.check();
    }
}
