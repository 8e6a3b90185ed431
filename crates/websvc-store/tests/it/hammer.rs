//! Stress tests of budgets: many threads, a model with crashes, and killed processes, checked against the ledger.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tempfile::TempDir;
use websvc_store::{CreditHold, HoldOutcome, Store, Team};

use crate::credits::{audit, give, hold_credits, remaining, usage};
use crate::engine::{Rows, is_server};
use crate::processes::start_child;
use crate::sqlite;

/// Number of concurrent tasks.
const TASKS: u64 = 64;
/// Environment variable with the duration of a long run:
/// `WEBSVC_HAMMER_SECONDS=30 cargo test -p websvc-store --test it hammer`.
const SECONDS: &str = "WEBSVC_HAMMER_SECONDS";

/// A seeded generator of random numbers (SplitMix64), so that a run can be repeated.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Simulates a request: a hold, which is sometimes dropped, else settled at a price that is often below and sometimes
/// above it. Returns the charged credits; `None` if the credits were insufficient.
fn request(store: &Store, team: &Team, rng: &mut Rng) -> Option<u64> {
    let credits = 1 + rng.below(20);
    let outcome = match store.try_hold(team, credits).unwrap() {
        Some(outcome) => outcome,
        None => store.hold(team, credits).unwrap(),
    };
    let HoldOutcome::Granted(hold) = outcome else { return None };
    if rng.below(8) == 0 {
        drop(hold);
        return Some(0);
    }
    let price = rng.below(credits + 8);
    if !hold.covers(price) {
        hold.extend(price).unwrap();
    }
    Some(hold.settle(usage(price)))
}

#[test]
fn concurrent_tasks_spend_exactly_the_budget() {
    let seconds: Option<u64> = env::var(SECONDS).ok().map(|text| text.parse().unwrap());
    let (dir, store) = crate::fresh();
    let budget = 4_000 * seconds.map_or(1, |seconds| seconds * 10);
    let teams: Vec<Team> =
        (0..4).map(|n| give(&store, &format!("team {n}"), Some(budget + n * 777))).collect();
    let charged: Vec<AtomicU64> = teams.iter().map(|_| AtomicU64::new(0)).collect();
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    // Two handles behave like two processes: separate leases, one database.
    let other = crate::open(dir.path());
    thread::scope(|scope| {
        for task in 0..TASKS {
            let store = if task % 2 == 0 { &store } else { &other };
            let (teams, charged) = (&teams, &charged);
            scope.spawn(move || {
                let mut rng = Rng(task);
                let mut rejected = 0;
                // Until all credits are spent, or the time is over.
                while rejected < 50 && until.is_none_or(|until| Instant::now() < until) {
                    let at = rng.below(teams.len() as u64) as usize;
                    match request(store, &teams[at], &mut rng) {
                        Some(credits) => drop(charged[at].fetch_add(credits, Ordering::Relaxed)),
                        None => rejected += 1,
                    }
                }
            });
        }
    });
    drop(other);
    for (team, charged) in teams.iter().zip(&charged) {
        let (charged, granted) = (charged.load(Ordering::Relaxed), team.credits.unwrap());
        let budget = store.budget(&team.name).unwrap().unwrap();
        assert_eq!((budget.spent, budget.remaining), (charged, granted - charged), "{team:?}");
        // The last credits are charged to a request that costs more.
        let last = hold_credits(&store, team, 0);
        last.extend(granted).unwrap();
        assert_eq!(last.settle(usage(granted)), granted - charged);
        assert_eq!(remaining(&store, &team.name), 0);
    }
    audit(dir.path());
}

/// Body of the child process: spends credits, and reports each charge after it was made, as a response would.
pub(crate) fn spend_until_killed(store: &Store, seed: u64) {
    let teams: Vec<Team> = store.list_teams().unwrap();
    thread::scope(|scope| {
        for task in 0..TASKS {
            let teams = &teams;
            scope.spawn(move || {
                let mut rng = Rng(seed * 1_000 + task);
                loop {
                    let team = &teams[rng.below(teams.len() as u64) as usize];
                    if let Some(credits) = request(store, team, &mut rng).filter(|credits| *credits > 0) {
                        let line = format!("charged {} {credits}\n", team.name);
                        std::io::stdout().write_all(line.as_bytes()).unwrap();
                    }
                }
            });
        }
    });
}

/// Lets a process spend until it has reported `charges` charges, kills it, and adds the reported credits by team.
fn spend_and_kill(dir: &Path, seed: u64, charges: usize, reported: &mut HashMap<String, u64>) {
    let mut child = start_child(dir, &format!("spend {seed}"));
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut remaining = charges;
    for line in lines {
        let Ok(line) = line else { break };
        let Some(rest) = line.strip_prefix("charged ") else { continue };
        let Some((team, credits)) = rest.rsplit_once(' ') else { continue };
        *reported.entry(team.to_owned()).or_default() += credits.parse::<u64>().unwrap();
        remaining = remaining.saturating_sub(1);
        if remaining == 0 {
            // Reports that are still in the pipe are read too.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
}

#[test]
fn killed_processes_charge_every_request_with_a_response_once() {
    const KILLS: u64 = 4;
    // The maximum price of a request of the child.
    const MAX_PRICE: u64 = 28;
    let (dir, store) = crate::fresh();
    let granted = 200_000;
    let names = ["tea", "coffee"];
    for name in names {
        give(&store, name, Some(granted));
    }
    drop(store);
    let mut reported = HashMap::new();
    for seed in 0..KILLS {
        let mut rng = Rng(seed);
        spend_and_kill(dir.path(), seed, 200 + rng.below(1_500) as usize, &mut reported);
    }
    let store = crate::open(dir.path());
    let mut unreported = 0;
    for name in names {
        let (reported, budget) = (reported[name], store.budget(name).unwrap().unwrap());
        assert!(budget.spent >= reported, "{name}: {reported} were reported and {} charged", budget.spent);
        assert_eq!(budget.remaining, granted - budget.spent, "{name}: all leases were returned");
        unreported += budget.spent - reported;
    }
    // At most the requests that were killed between charge and report.
    assert!(unreported <= KILLS * TASKS * MAX_PRICE, "{unreported}");
    audit(dir.path());
    assert_eq!(fs::read_dir(dir.path().join("ledger")).unwrap().count(), 0, "all journals are removed");
}

/// A step of the model.
#[derive(Debug, Clone, Copy)]
enum Step {
    Give {
        team: usize,
        credits: Option<u64>,
    },
    Hold {
        team: usize,
        credits: u64,
    },
    Settle {
        hold: usize,
        price: u64,
    },
    Drop {
        hold: usize,
    },
    Flush,
    /// The process dies and another one starts.
    Crash,
    /// The process ends and another one starts.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let (team, credits) = (0_usize..2, 0_u64..4_000);
    prop_oneof![
        1 => (team.clone(), proptest::option::weighted(0.9, 0_u64..6_000))
            .prop_map(|(team, credits)| Step::Give { team, credits }),
        8 => (team, credits.clone()).prop_map(|(team, credits)| Step::Hold { team, credits }),
        6 => (0_usize..8, credits).prop_map(|(hold, price)| Step::Settle { hold, price }),
        2 => (0_usize..8).prop_map(|hold| Step::Drop { hold }),
        1 => Just(Step::Flush),
        1 => Just(Step::Crash),
        1 => Just(Step::Restart),
    ]
}

/// The expected balance of a team.
#[derive(Debug, Clone, Copy, Default)]
struct Model {
    /// `None` is unlimited.
    remaining: Option<u64>,
    /// Credits held by requests in flight.
    held: u64,
    grant: u32,
}

struct World {
    dir: TempDir,
    store: Store,
    teams: [Model; 2],
    holds: Vec<(usize, u32, u64, CreditHold)>,
}

const NAMES: [&str; 2] = ["tea", "coffee"];

impl World {
    fn run(&mut self, step: Step) {
        match step {
            Step::Give { team, credits } => {
                give(&self.store, NAMES[team], credits);
                let model = &mut self.teams[team];
                *model = Model { remaining: credits, held: 0, grant: model.grant + 1 };
            }
            Step::Hold { team, credits } => self.hold(team, credits),
            Step::Settle { hold, price } => self.settle(hold, price),
            Step::Drop { hold } => {
                if let Some(index) = hold.checked_rem(self.holds.len()) {
                    let (team, grant, credits, hold) = self.holds.swap_remove(index);
                    drop(hold);
                    self.release(team, grant, credits);
                }
            }
            Step::Flush => self.store.flush_credits().unwrap(),
            // The state of a server at a crash cannot be copied: there the step is a restart.
            Step::Crash if !is_server() => {
                let copy = copy_after_crash(self.dir.path());
                self.open(&copy);
                self.dir = copy;
            }
            Step::Restart | Step::Crash => {
                self.holds.clear();
                let (other_dir, other_store) = crate::fresh();
                // This drops the last handle, so the store flushes.
                drop(std::mem::replace(&mut self.store, other_store));
                let dir = std::mem::replace(&mut self.dir, other_dir);
                self.open(&dir);
                self.dir = dir;
            }
        }
        self.check();
    }

    fn open(&mut self, dir: &TempDir) {
        self.holds.clear();
        self.teams.iter_mut().for_each(|team| team.held = 0);
        self.store = crate::open(dir.path());
    }

    fn hold(&mut self, team: usize, credits: u64) {
        let record = self.store.team(NAMES[team]).unwrap().unwrap();
        let outcome = match self.store.try_hold(&record, credits).unwrap() {
            Some(outcome) => outcome,
            None => self.store.hold(&record, credits).unwrap(),
        };
        let model = &mut self.teams[team];
        let free = model.remaining.map(|remaining| remaining - model.held);
        match outcome {
            HoldOutcome::Granted(hold) => {
                assert!(free.is_none_or(|free| free >= credits), "{credits} of {free:?} were held");
                let credits = if free.is_some() { credits } else { 0 };
                model.held += credits;
                self.holds.push((team, model.grant, credits, hold));
            }
            HoldOutcome::Insufficient { remaining } => {
                assert!(free.is_some_and(|free| free < credits && remaining <= free), "{remaining} {free:?}");
            }
        }
    }

    fn settle(&mut self, hold: usize, price: u64) {
        let Some(index) = hold.checked_rem(self.holds.len()) else { return };
        let (team, grant, credits, hold) = self.holds.swap_remove(index);
        hold.extend(price).unwrap();
        let charged = hold.settle(usage(price));
        let model = &mut self.teams[team];
        assert!(charged <= price);
        if model.grant == grant
            && let Some(remaining) = &mut model.remaining
        {
            let free = *remaining - model.held;
            assert_eq!(charged, price.min(credits + free), "{credits} held and {free} free");
            *remaining -= charged;
        }
        self.release(team, grant, credits);
    }

    fn release(&mut self, team: usize, grant: u32, credits: u64) {
        if self.teams[team].grant == grant {
            self.teams[team].held -= credits;
        }
    }

    fn check(&self) {
        for (name, model) in NAMES.iter().zip(&self.teams) {
            let remaining = self.store.budget(name).unwrap().map(|budget| budget.remaining);
            assert_eq!(remaining, model.remaining, "{name}");
        }
        let wrong = Rows::open(self.dir.path()).number(
            "SELECT count(*) FROM grants WHERE granted <> balance + voided + spent + \
             (SELECT coalesce(sum(rest), 0) FROM leases WHERE grant_id = grants.id)",
        );
        assert_eq!(wrong, 0);
    }
}

/// Copies the files in the state in which a killed process would leave them.
fn copy_after_crash(dir: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let sqlite = sqlite(dir);
    // The lock keeps other connections from writing while the files are copied.
    sqlite.execute_batch("BEGIN IMMEDIATE").unwrap();
    for name in ["websvc.db", "websvc.db-wal"] {
        if dir.join(name).exists() {
            fs::copy(dir.join(name), copy.path().join(name)).unwrap();
        }
    }
    if let Ok(journals) = fs::read_dir(dir.join("ledger")) {
        fs::create_dir(copy.path().join("ledger")).unwrap();
        for journal in journals {
            let journal = journal.unwrap();
            fs::copy(journal.path(), copy.path().join("ledger").join(journal.file_name())).unwrap();
        }
    }
    sqlite.execute_batch("ROLLBACK").unwrap();
    copy
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ledger_matches_the_model_despite_crashes(steps in proptest::collection::vec(step(), 1..60)) {
        let (dir, store) = crate::fresh();
        for name in NAMES {
            give(&store, name, None);
        }
        let mut world = World { dir, store, teams: [Model::default(); 2], holds: Vec::new() };
        for step in steps {
            world.run(step);
        }
    }
}
