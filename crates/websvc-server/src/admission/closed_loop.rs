//! A simulation of clients in a closed loop: each sends its next request as soon as it has a response. It has its own
//! clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tokio::sync::oneshot::Receiver;

use super::*;

const TIMEOUT: Duration = Duration::from_secs(60);

/// An event of a simulated client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Send,
    /// The maximum time in the queue of requests is over.
    AdmissionTimeout {
        number: u64,
    },
    /// The maximum time in the queue of searches is over.
    ComputeTimeout {
        number: u64,
    },
    Computed,
}

/// The step of a client's request.
#[derive(Debug)]
enum Step {
    Idle,
    Queued { number: u64, admitted: Receiver<()> },
    QueuedForCompute { request: u64, number: u64, admitted: Receiver<()> },
    Computing { request: u64, number: u64 },
}

#[derive(Debug)]
struct Client {
    step: Step,
    arrived: Instant,
    /// The time after which it sends no more requests.
    until: Instant,
}

/// The results of the requests of a time span.
#[derive(Debug, Default)]
struct Outcome {
    /// The response times.
    latencies: Vec<Duration>,
    rejected: usize,
}

impl Outcome {
    fn p99(&mut self) -> Duration {
        self.latencies.sort();
        self.latencies[self.latencies.len() * 99 / 100]
    }
}

/// A simulated machine that computes searches, and its clients.
struct Simulation {
    limits: AdmissionLimits,
    state: AdmissionState,
    rejections: Rejections,
    service_time: Duration,
    now: Instant,
    clients: Vec<Client>,
    events: BinaryHeap<Reverse<(Instant, u64, usize, Event)>>,
    /// The number of events so far, which orders simultaneous ones.
    event_count: u64,
    outcome: Outcome,
    /// The time from a response to the client's next request.
    round_trip: Duration,
}

impl Simulation {
    fn new(service_time: Duration) -> Self {
        let now = Instant::now();
        let limits = AdmissionLimits { search_concurrency: 2, ..AdmissionLimits::default() };
        Self {
            limits,
            state: AdmissionState::new(limits, now),
            rejections: Rejections::new(now),
            service_time,
            now,
            clients: Vec::new(),
            events: BinaryHeap::new(),
            event_count: 0,
            outcome: Outcome::default(),
            round_trip: Duration::from_micros(50),
        }
    }

    /// Adds clients that send requests for this time.
    fn add(&mut self, clients: usize, span: Duration) {
        for _ in 0..clients {
            let client = self.clients.len();
            self.clients.push(Client { step: Step::Idle, arrived: self.now, until: self.now + span });
            self.schedule(self.round_trip, client, Event::Send);
        }
    }

    fn schedule(&mut self, delay: Duration, client: usize, event: Event) {
        self.event_count += 1;
        self.events.push(Reverse((self.now + delay, self.event_count, client, event)));
    }

    /// Advances the clock, and returns the results of this time.
    fn run(&mut self, span: Duration) -> Outcome {
        let end = self.now + span;
        while let Some(Reverse((time, _, client, event))) = self.events.peek().copied() {
            if time > end {
                break;
            }
            self.events.pop();
            self.now = time;
            self.handle(client, event);
        }
        self.now = end;
        std::mem::take(&mut self.outcome)
    }

    fn handle(&mut self, client: usize, event: Event) {
        let step = std::mem::replace(&mut self.clients[client].step, Step::Idle);
        match (event, step) {
            (Event::Send, Step::Idle) if self.now < self.clients[client].until => self.send(client),
            (Event::AdmissionTimeout { number: expired }, Step::Queued { number, .. })
                if expired == number =>
            {
                assert!(self.state.cancel_wait("", number, self.now));
                self.state.leave("", None, number, self.now);
                self.reject(client);
            }
            (Event::ComputeTimeout { number: expired }, Step::QueuedForCompute { request, number, .. })
                if expired == number =>
            {
                assert!(self.state.cancel_compute_wait("", number, self.now));
                self.state.leave("", None, request, self.now);
                self.reject(client);
                self.continue_admitted();
            }
            (Event::Computed, Step::Computing { request, number }) => {
                self.outcome.latencies.push(self.now - self.clients[client].arrived);
                self.state.release_compute("", number, self.now);
                self.state.leave("", None, request, self.now);
                self.schedule(self.round_trip, client, Event::Send);
                self.continue_admitted();
            }
            (_, step) => self.clients[client].step = step,
        }
    }

    fn send(&mut self, client: usize) {
        self.clients[client].arrived = self.now;
        let request = AdmissionRequest {
            team: "",
            team_quota: Quota::default(),
            key: None,
            share: ConcurrencyShare::Whole,
        };
        match self.state.enter(&request, self.now).1 {
            AdmissionDecision::Rejected(_) => self.reject(client),
            AdmissionDecision::Admitted { number } => self.request_compute(client, number),
            AdmissionDecision::Queued { number, admitted, max_wait } => {
                self.clients[client].step = Step::Queued { number, admitted };
                self.schedule(max_wait, client, Event::AdmissionTimeout { number });
            }
        }
    }

    fn request_compute(&mut self, client: usize, request: u64) {
        let (QueueTicket { number, admitted, .. }, max_wait) =
            self.state.request_compute("", TIMEOUT, self.now);
        let step = match admitted {
            None => {
                self.schedule(self.service_time, client, Event::Computed);
                Step::Computing { request, number }
            }
            Some(admitted) => {
                let remaining = max_wait.saturating_sub(self.now - self.clients[client].arrived);
                self.schedule(remaining, client, Event::ComputeTimeout { number });
                Step::QueuedForCompute { request, number, admitted }
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
        self.schedule(delay + self.round_trip, client, Event::Send);
    }

    /// Continues the requests that were admitted or may compute now.
    fn continue_admitted(&mut self) {
        for client in 0..self.clients.len() {
            let admitted = match &mut self.clients[client].step {
                Step::Queued { admitted, .. } | Step::QueuedForCompute { admitted, .. } => admitted,
                Step::Idle | Step::Computing { .. } => continue,
            };
            if admitted.try_recv().is_err() {
                continue;
            }
            match self.clients[client].step {
                Step::Queued { number, .. } => self.request_compute(client, number),
                Step::QueuedForCompute { request, number, .. } => {
                    self.clients[client].step = Step::Computing { request, number };
                    self.schedule(self.service_time, client, Event::Computed);
                }
                Step::Idle | Step::Computing { .. } => {}
            }
        }
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn closed_loop_of_any_size_is_served_at_the_peak_rate_without_rejections() {
    for clients in [8, 64, 128, 256, 1000] {
        let mut simulation = Simulation::new(Duration::from_millis(1));
        simulation.add(clients, 100 * SECOND);
        let mut outcome = simulation.run(8 * SECOND);
        // Two processors can serve 2,000 searches per second.
        assert!(outcome.latencies.len() > 14_400, "{clients} clients: {} responses", outcome.latencies.len());
        assert_eq!(outcome.rejected, 0, "{clients} clients");
        assert!(outcome.p99() < SECOND, "{clients} clients: {:?}", outcome.p99());
    }
}

#[test]
fn no_request_is_rejected_after_the_load_has_fallen() {
    // The machine is far too slow: most requests are rejected, and their clients retry immediately.
    let mut simulation = Simulation::new(Duration::from_millis(20));
    simulation.add(8, 100 * SECOND);
    simulation.add(1500, 12 * SECOND);
    simulation.run(8 * SECOND);
    let mut overloaded = simulation.run(4 * SECOND);
    assert!(overloaded.latencies.len() >= 360, "{} of 400 responses", overloaded.latencies.len());
    assert!(overloaded.p99() < SECOND, "{:?}", overloaded.p99());
    assert!(
        overloaded.rejected < 4 * 1500 * 2,
        "a client is rejected about once per second: {}",
        overloaded.rejected
    );
    assert!(simulation.state.metrics(simulation.now).is_overloaded);
    simulation.run(SECOND);
    let normal = simulation.run(4 * SECOND);
    assert_eq!(normal.rejected, 0);
    assert!(normal.latencies.len() >= 396, "{}", normal.latencies.len());
    assert!(!simulation.state.metrics(simulation.now).is_overloaded);
}

#[test]
fn full_queue_rejects_each_client_about_once_per_second() {
    let mut simulation = Simulation::new(Duration::from_millis(20));
    let capacity = simulation.limits.total_concurrency + simulation.limits.queue_len;
    simulation.add(capacity + 2000, 100 * SECOND);
    let outcome = simulation.run(10 * SECOND);
    assert!(outcome.latencies.len() >= 900, "{} of 1,000 responses", outcome.latencies.len());
    let per_second = outcome.rejected / 10;
    assert!(per_second < (capacity + 2000) * 2, "{per_second} rejections per second");
}

#[test]
fn every_search_of_a_burst_of_heavy_searches_is_served() {
    let mut simulation = Simulation::new(SECOND / 2);
    simulation.add(40, SECOND);
    let outcome = simulation.run(30 * SECOND);
    assert!(outcome.latencies.len() >= 40, "{}", outcome.latencies.len());
    assert_eq!(outcome.rejected, 0, "the burst takes ten seconds, and each search may wait for thirty");
}
