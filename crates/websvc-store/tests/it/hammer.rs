//! Budgets under fire: many threads, a model, and processes that are killed, with the ledger as the witness.

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

use crate::credits::{audit, enough, give, remaining, usage};
use crate::processes::start_child;
use crate::sqlite;

/// The tasks of the proof.
const TASKS: u64 = 64;
/// For how long the long run hammers: `WEBSVC_HAMMER_SECONDS=30 cargo test -p websvc-store --test it hammer`.
const SECONDS: &str = "WEBSVC_HAMMER_SECONDS";

/// A generator of numbers (SplitMix64), so that a run can be repeated.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// One request: held, perhaps given up, else settled at a price that is often less and sometimes more than what was held.
/// Returns what was charged.
fn request(store: &Store, team: &Team, dice: &mut Dice) -> Option<u64> {
    let held = 1 + dice.below(20);
    let hold = match store.try_hold(team, held).unwrap() {
        Some(held) => held,
        None => store.hold(team, held).unwrap(),
    };
    let HoldOutcome::Granted(hold) = hold else { return None };
    if dice.below(8) == 0 {
        drop(hold);
        return Some(0);
    }
    let price = dice.below(held + 8);
    if !hold.covers(price) {
        hold.extend(price).unwrap();
    }
    Some(hold.settle(usage(price)))
}

#[test]
fn sixty_four_tasks_spend_budgets_to_the_last_credit_and_no_further() {
    let seconds: Option<u64> = env::var(SECONDS).ok().map(|text| text.parse().unwrap());
    let (dir, store) = crate::fresh();
    let budget = 4_000 * seconds.map_or(1, |seconds| seconds * 10);
    let teams: Vec<Team> =
        (0..4).map(|n| give(&store, &format!("team {n}"), Some(budget + n * 777))).collect();
    let charged: Vec<AtomicU64> = teams.iter().map(|_| AtomicU64::new(0)).collect();
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    // Two handles, as of two processes: leases of their own, one database.
    let other = Store::open(dir.path()).unwrap();
    thread::scope(|scope| {
        for task in 0..TASKS {
            let store = if task % 2 == 0 { &store } else { &other };
            let (teams, charged) = (&teams, &charged);
            scope.spawn(move || {
                let mut dice = Dice(task);
                let mut refused = 0;
                // Until everything is spent, or until it is time.
                while refused < 50 && until.is_none_or(|until| Instant::now() < until) {
                    let at = dice.below(teams.len() as u64) as usize;
                    match request(store, &teams[at], &mut dice) {
                        Some(credits) => drop(charged[at].fetch_add(credits, Ordering::Relaxed)),
                        None => refused += 1,
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
        // To the last credit: what is left is charged to a request that costs more.
        let last = enough(&store, team, 0);
        last.extend(granted).unwrap();
        assert_eq!(last.settle(usage(granted)), granted - charged);
        assert_eq!(remaining(&store, &team.name), 0);
    }
    audit(dir.path());
}

/// Body of the child process: spends, and reports each request after it was charged, as a response would.
pub(crate) fn spend_until_killed(store: &Store, seed: u64) {
    let teams: Vec<Team> = store.list_teams().unwrap();
    thread::scope(|scope| {
        for task in 0..TASKS {
            let teams = &teams;
            scope.spawn(move || {
                let mut dice = Dice(seed * 1_000 + task);
                loop {
                    let team = &teams[dice.below(teams.len() as u64) as usize];
                    if let Some(credits) = request(store, team, &mut dice).filter(|credits| *credits > 0) {
                        let line = format!("charged {} {credits}\n", team.name);
                        std::io::stdout().write_all(line.as_bytes()).unwrap();
                    }
                }
            });
        }
    });
}

/// Lets a process spend until it has told of so many charges, kills it, and adds what it told of.
fn spend_and_kill(dir: &Path, seed: u64, charges: usize, told: &mut HashMap<String, u64>) {
    let mut child = start_child(dir, &format!("spend {seed}"));
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut left = charges;
    for line in lines {
        let Ok(line) = line else { break };
        let Some(rest) = line.strip_prefix("charged ") else { continue };
        let Some((team, credits)) = rest.rsplit_once(' ') else { continue };
        *told.entry(team.to_owned()).or_default() += credits.parse::<u64>().unwrap();
        left = left.saturating_sub(1);
        if left == 0 {
            // What is still in the pipe is read, too: it was told.
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
}

#[test]
fn killed_processes_charge_every_answered_request_once() {
    const KILLS: u64 = 4;
    // The most that a request of the child costs.
    const MOST: u64 = 28;
    let (dir, store) = crate::fresh();
    let granted = 200_000;
    let names = ["tea", "coffee"];
    for name in names {
        give(&store, name, Some(granted));
    }
    drop(store);
    let mut told = HashMap::new();
    for seed in 0..KILLS {
        let mut dice = Dice(seed);
        spend_and_kill(dir.path(), seed, 200 + dice.below(1_500) as usize, &mut told);
    }
    let store = Store::open(dir.path()).unwrap();
    let mut unanswered = 0;
    for name in names {
        let (told, budget) = (told[name], store.budget(name).unwrap().unwrap());
        assert!(budget.spent >= told, "{name}: {told} were answered and {} charged", budget.spent);
        assert_eq!(budget.remaining, granted - budget.spent, "{name}: all leases came back");
        unanswered += budget.spent - told;
    }
    // At most the requests that were between charge and answer.
    assert!(unanswered <= KILLS * TASKS * MOST, "{unanswered}");
    audit(dir.path());
    assert_eq!(fs::read_dir(dir.path().join("ledger")).unwrap().count(), 0, "nothing is left of them");
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

/// Model of a team's balance, by the rules alone.
#[derive(Debug, Clone, Copy, Default)]
struct Model {
    /// `None` is unlimited.
    left: Option<u64>,
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
    fn take(&mut self, step: Step) {
        match step {
            Step::Give { team, credits } => {
                give(&self.store, NAMES[team], credits);
                let model = &mut self.teams[team];
                *model = Model { left: credits, held: 0, grant: model.grant + 1 };
            }
            Step::Hold { team, credits } => self.hold(team, credits),
            Step::Settle { hold, price } => self.settle(hold, price),
            Step::Drop { hold } => {
                if let Some(at) = hold.checked_rem(self.holds.len()) {
                    let (team, grant, credits, hold) = self.holds.swap_remove(at);
                    drop(hold);
                    self.unhold(team, grant, credits);
                }
            }
            Step::Flush => self.store.flush_credits().unwrap(),
            Step::Crash => {
                let copy = as_after_a_crash(self.dir.path());
                self.open(&copy);
                self.dir = copy;
            }
            Step::Restart => {
                self.holds.clear();
                let (other, elsewhere) = crate::fresh();
                // The last handle is gone: the store writes what is left.
                drop(std::mem::replace(&mut self.store, elsewhere));
                let dir = std::mem::replace(&mut self.dir, other);
                self.open(&dir);
                self.dir = dir;
            }
        }
        self.check();
    }

    fn open(&mut self, dir: &TempDir) {
        self.holds.clear();
        self.teams.iter_mut().for_each(|team| team.held = 0);
        self.store = Store::open(dir.path()).unwrap();
    }

    fn hold(&mut self, team: usize, credits: u64) {
        let record = self.store.team(NAMES[team]).unwrap().unwrap();
        let held = match self.store.try_hold(&record, credits).unwrap() {
            Some(held) => held,
            None => self.store.hold(&record, credits).unwrap(),
        };
        let model = &mut self.teams[team];
        let free = model.left.map(|left| left - model.held);
        match held {
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
        let Some(at) = hold.checked_rem(self.holds.len()) else { return };
        let (team, grant, credits, hold) = self.holds.swap_remove(at);
        hold.extend(price).unwrap();
        let charged = hold.settle(usage(price));
        let model = &mut self.teams[team];
        assert!(charged <= price);
        if model.grant == grant
            && let Some(left) = &mut model.left
        {
            let free = *left - model.held;
            assert_eq!(charged, price.min(credits + free), "{credits} held and {free} free");
            *left -= charged;
        }
        self.unhold(team, grant, credits);
    }

    fn unhold(&mut self, team: usize, grant: u32, credits: u64) {
        if self.teams[team].grant == grant {
            self.teams[team].held -= credits;
        }
    }

    fn check(&self) {
        for (name, model) in NAMES.iter().zip(&self.teams) {
            let left = self.store.budget(name).unwrap().map(|budget| budget.remaining);
            assert_eq!(left, model.left, "{name}");
        }
        let wrong: i64 = sqlite(self.dir.path())
            .query_row(
                "SELECT count(*) FROM grants WHERE granted <> balance + voided + spent + \
                 (SELECT ifnull(sum(rest), 0) FROM leases WHERE grant_id = grants.id)",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(wrong, 0);
    }
}

/// Copies the files as a process leaves them that is killed now.
fn as_after_a_crash(dir: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let sqlite = sqlite(dir);
    // Nobody writes while the files are copied.
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
    fn the_ledger_does_what_the_rules_say_through_crashes(steps in proptest::collection::vec(step(), 1..60)) {
        let (dir, store) = crate::fresh();
        for name in NAMES {
            give(&store, name, None);
        }
        let mut world = World { dir, store, teams: [Model::default(); 2], holds: Vec::new() };
        for step in steps {
            world.take(step);
        }
    }
}
