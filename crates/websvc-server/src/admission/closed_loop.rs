//! Clients that ask without a pause, on a clock of their own: each asks again as soon as it has an answer, whatever that is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tokio::sync::oneshot::Receiver;

use super::*;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Event of a simulated client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ask,
    /// It has waited for its place in work for as long as it may.
    PlaceDue {
        number: u64,
    },
    /// It has waited for its processor for as long as it may.
    ProcessorDue {
        number: u64,
    },
    Computed,
}

/// Stage of a request.
#[derive(Debug)]
enum Step {
    Thinking,
    WaitsForPlace { number: u64, turn: Receiver<()> },
    WaitsForProcessor { place: u64, number: u64, turn: Receiver<()> },
    Computes { place: u64, number: u64 },
}

#[derive(Debug)]
struct Client {
    step: Step,
    arrived: Instant,
    /// It asks no more when this is over.
    until: Instant,
}

/// Results of the requests of an interval.
#[derive(Debug, Default)]
struct Outcome {
    waits: Vec<Duration>,
    rejected: usize,
}

impl Outcome {
    fn p99(&mut self) -> Duration {
        self.waits.sort();
        self.waits[self.waits.len() * 99 / 100]
    }
}

/// A machine that computes searches, and its clients.
struct World {
    limits: AdmissionLimits,
    gate: AdmissionState,
    rejections: Rejections,
    service_time: Duration,
    now: Instant,
    clients: Vec<Client>,
    events: BinaryHeap<Reverse<(Instant, u64, usize, Event)>>,
    order: u64,
    outcome: Outcome,
    /// From an answer to the next request: the network and the client.
    retry: Duration,
}

impl World {
    fn new(service_time: Duration) -> Self {
        let (now, limits) = (Instant::now(), AdmissionLimits { processors: 2, ..AdmissionLimits::default() });
        Self {
            limits,
            gate: AdmissionState::new(limits, now),
            rejections: Rejections::new(now),
            service_time,
            now,
            clients: Vec::new(),
            events: BinaryHeap::new(),
            order: 0,
            outcome: Outcome::default(),
            retry: Duration::from_micros(50),
        }
    }

    /// Lets so many more clients ask for so long.
    fn add(&mut self, clients: usize, span: Duration) {
        for _ in 0..clients {
            let client = self.clients.len();
            self.clients.push(Client { step: Step::Thinking, arrived: self.now, until: self.now + span });
            self.plan(self.retry, client, Event::Ask);
        }
    }

    fn plan(&mut self, after: Duration, client: usize, event: Event) {
        self.order += 1;
        self.events.push(Reverse((self.now + after, self.order, client, event)));
    }

    /// Lets time pass, and returns what came of the requests meanwhile.
    fn run(&mut self, span: Duration) -> Outcome {
        let end = self.now + span;
        while let Some(Reverse((at, _, client, event))) = self.events.peek().copied() {
            if at > end {
                break;
            }
            self.events.pop();
            self.now = at;
            self.happen(client, event);
        }
        self.now = end;
        std::mem::take(&mut self.outcome)
    }

    fn happen(&mut self, client: usize, event: Event) {
        let step = std::mem::replace(&mut self.clients[client].step, Step::Thinking);
        match (event, step) {
            (Event::Ask, Step::Thinking) if self.now < self.clients[client].until => self.ask(client),
            (Event::PlaceDue { number: due }, Step::WaitsForPlace { number, .. }) if due == number => {
                assert!(self.gate.cancel_wait("", number, self.now));
                self.gate.leave("", None, number, self.now);
                self.reject(client);
            }
            (Event::ProcessorDue { number: due }, Step::WaitsForProcessor { place, number, .. })
                if due == number =>
            {
                assert!(self.gate.give_up_computing("", number, self.now));
                self.gate.leave("", None, place, self.now);
                self.reject(client);
                self.let_in();
            }
            (Event::Computed, Step::Computes { place, number }) => {
                self.outcome.waits.push(self.now - self.clients[client].arrived);
                self.gate.release_compute("", number, self.now);
                self.gate.leave("", None, place, self.now);
                self.plan(self.retry, client, Event::Ask);
                self.let_in();
            }
            (_, step) => self.clients[client].step = step,
        }
    }

    fn ask(&mut self, client: usize) {
        self.clients[client].arrived = self.now;
        let demand = AdmissionRequest { team: "", of_team: Quota::default(), key: None };
        match self.gate.enter(&demand, self.now).1 {
            AdmissionDecision::Refused(_) => self.reject(client),
            AdmissionDecision::Admitted { number } => self.compute(client, number),
            AdmissionDecision::Waiting { number, turn, at_most } => {
                self.clients[client].step = Step::WaitsForPlace { number, turn };
                self.plan(at_most, client, Event::PlaceDue { number });
            }
        }
    }

    fn compute(&mut self, client: usize, place: u64) {
        let (QueueTicket { number, turn }, max_wait) = self.gate.request_compute("", TIMEOUT, self.now);
        let step = match turn {
            None => {
                self.plan(self.service_time, client, Event::Computed);
                Step::Computes { place, number }
            }
            Some(turn) => {
                let left = max_wait.saturating_sub(self.now - self.clients[client].arrived);
                self.plan(left, client, Event::ProcessorDue { number });
                Step::WaitsForProcessor { place, number, turn }
            }
        };
        self.clients[client].step = step;
    }

    fn reject(&mut self, client: usize) {
        self.outcome.rejected += 1;
        let delay = self
            .rejections
            .delay(self.clients[client].arrived, self.now)
            .map_or(Duration::ZERO, |(delay, _)| delay);
        self.plan(delay + self.retry, client, Event::Ask);
    }

    /// Goes on with the requests whose turn has come.
    fn let_in(&mut self) {
        for client in 0..self.clients.len() {
            let turn = match &mut self.clients[client].step {
                Step::WaitsForPlace { turn, .. } | Step::WaitsForProcessor { turn, .. } => turn,
                Step::Thinking | Step::Computes { .. } => continue,
            };
            if turn.try_recv().is_err() {
                continue;
            }
            match self.clients[client].step {
                Step::WaitsForPlace { number, .. } => self.compute(client, number),
                Step::WaitsForProcessor { place, number, .. } => {
                    self.clients[client].step = Step::Computes { place, number };
                    self.plan(self.service_time, client, Event::Computed);
                }
                Step::Thinking | Step::Computes { .. } => {}
            }
        }
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn closed_loop_of_any_size_is_served_at_the_peak_rate_and_nobody_is_rejected() {
    for clients in [8, 64, 128, 256, 1000] {
        let mut world = World::new(Duration::from_millis(1));
        world.add(clients, 100 * SECOND);
        let mut outcome = world.run(8 * SECOND);
        // Two processors can answer 2,000 a second.
        assert!(outcome.waits.len() > 14_400, "{clients} clients: {} answers", outcome.waits.len());
        assert_eq!(outcome.rejected, 0, "{clients} clients");
        assert!(outcome.p99() < SECOND, "{clients} clients: {:?}", outcome.p99());
    }
}

#[test]
fn after_the_load_has_fallen_nobody_is_rejected() {
    // Far too slow for so many: most are rejected, and ask again at once.
    let mut world = World::new(Duration::from_millis(20));
    world.add(8, 100 * SECOND);
    world.add(1500, 12 * SECOND);
    world.run(8 * SECOND);
    let mut crowded = world.run(4 * SECOND);
    assert!(crowded.waits.len() >= 360, "{} of 400 answers", crowded.waits.len());
    assert!(crowded.p99() < SECOND, "{:?}", crowded.p99());
    assert!(
        crowded.rejected < 4 * 1500 * 2,
        "a client is rejected about once a second: {}",
        crowded.rejected
    );
    assert!(world.gate.figures(world.now).is_overloaded);
    world.run(SECOND);
    let alone = world.run(4 * SECOND);
    assert_eq!(alone.rejected, 0);
    assert!(alone.waits.len() >= 396, "{}", alone.waits.len());
    assert!(!world.gate.figures(world.now).is_overloaded);
}

#[test]
fn a_full_queue_costs_no_more_rejections_than_clients_in_a_second() {
    let mut world = World::new(Duration::from_millis(20));
    let room = world.limits.total_concurrency + world.limits.queue;
    world.add(room + 2000, 100 * SECOND);
    let outcome = world.run(10 * SECOND);
    assert!(outcome.waits.len() >= 900, "{} of 1,000 answers", outcome.waits.len());
    let a_second = outcome.rejected / 10;
    assert!(a_second < (room + 2000) * 2, "{a_second} rejections a second");
}

#[test]
fn a_burst_of_heavy_searches_is_worked_off() {
    let mut world = World::new(SECOND / 2);
    world.add(40, SECOND);
    let outcome = world.run(30 * SECOND);
    assert!(outcome.waits.len() >= 40, "{}", outcome.waits.len());
    assert_eq!(outcome.rejected, 0, "it takes ten seconds, but each may wait for thirty");
}
