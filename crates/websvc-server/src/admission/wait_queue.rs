//! A limited number of permits and a fair queue for them: first in, first out within a team, and round robin between
//! teams.

use std::collections::{HashMap, HashSet, VecDeque};

use tokio::sync::oneshot;

/// The state of the permits and the queue. Every request that [`join`](Self::join)s has a number and must
/// [`leave`](Self::leave).
#[derive(Debug)]
pub(super) struct FairWaitQueue {
    max_permits: usize,
    /// The numbers of the requests with a permit.
    permits: HashSet<u64>,
    queued: usize,
    /// The queued requests by team; no list is empty.
    teams: HashMap<String, VecDeque<QueuedRequest>>,
    /// The teams with queued requests, each once, in the order in which they get the next permits.
    team_order: VecDeque<String>,
    next_number: u64,
}

#[derive(Debug)]
struct QueuedRequest {
    number: u64,
    admitted: oneshot::Sender<()>,
}

/// The position of a request in the queue, or its permit.
#[derive(Debug)]
pub(super) struct QueueTicket {
    pub(super) number: u64,
    /// `None` if the request has its permit. Otherwise it resolves when the request gets one, and fails if it is evicted.
    pub(super) admitted: Option<oneshot::Receiver<()>>,
}

impl FairWaitQueue {
    pub(super) fn new(max_permits: usize) -> Self {
        Self {
            max_permits,
            permits: HashSet::new(),
            queued: 0,
            teams: HashMap::new(),
            team_order: VecDeque::new(),
            next_number: 0,
        }
    }

    /// Returns the number of requests with a permit.
    pub(super) fn permits(&self) -> usize {
        self.permits.len()
    }

    pub(super) fn has_permit(&self, number: u64) -> bool {
        self.permits.contains(&number)
    }

    pub(super) fn queued(&self) -> usize {
        self.queued
    }

    pub(super) fn queued_for(&self, team: &str) -> usize {
        self.teams.get(team).map_or(0, VecDeque::len)
    }

    /// Returns the teams with queued requests, and their numbers.
    pub(super) fn queued_by_team(&self) -> impl Iterator<Item = (&str, usize)> {
        self.teams.iter().map(|(team, queued)| (team.as_str(), queued.len()))
    }

    pub(super) fn has_free_permit(&self) -> bool {
        self.permits.len() < self.max_permits
    }

    /// Gives a request a permit, or queues it.
    pub(super) fn join(&mut self, team: &str) -> QueueTicket {
        let number = self.next_number;
        self.next_number += 1;
        if self.has_free_permit() {
            self.permits.insert(number);
            return QueueTicket { number, admitted: None };
        }
        let (sender, admitted) = oneshot::channel();
        let request = QueuedRequest { number, admitted: sender };
        match self.teams.get_mut(team) {
            Some(requests) => requests.push_back(request),
            None => {
                self.teams.insert(team.to_owned(), VecDeque::from([request]));
                self.team_order.push_back(team.to_owned());
            }
        }
        self.queued += 1;
        QueueTicket { number, admitted: Some(admitted) }
    }

    /// Releases the permit of a request, or removes it from the queue. Admits no other request:
    /// [`admit_next`](Self::admit_next) does.
    pub(super) fn leave(&mut self, team: &str, number: u64) {
        if self.permits.remove(&number) {
            return;
        }
        let Some(requests) = self.teams.get_mut(team) else { return };
        let before = requests.len();
        requests.retain(|request| request.number != number);
        self.queued -= before - requests.len();
        self.remove_if_empty(team);
    }

    /// Gives a free permit to the next queued request. Returns `false` if there is no free permit or no queued request.
    pub(super) fn admit_next(&mut self) -> bool {
        if !self.has_free_permit() {
            return false;
        }
        let Some(team) = self.team_order.pop_front() else { return false };
        let Some(requests) = self.teams.get_mut(&team) else { return false };
        let Some(request) = requests.pop_front() else { return false };
        if requests.is_empty() {
            self.teams.remove(&team);
        } else {
            self.team_order.push_back(team);
        }
        self.queued -= 1;
        self.permits.insert(request.number);
        // A request that is cancelled at this moment leaves like one with a permit.
        let _ = request.admitted.send(());
        true
    }

    /// Evicts the last queued request of the team with the most queued requests, to make room for a request of `team`.
    /// Returns `false` if no team has at least two more than `team`: they would only change places.
    pub(super) fn evict_for(&mut self, team: &str) -> bool {
        let own = self.queued_for(team);
        let longest = self.teams.iter().max_by_key(|(_, requests)| requests.len());
        let Some((longest, requests)) = longest else { return false };
        if requests.len() < own + 2 {
            return false;
        }
        let longest = longest.clone();
        let evicted = self.teams.get_mut(&longest).and_then(VecDeque::pop_back);
        self.queued -= usize::from(evicted.is_some());
        evicted.is_some()
    }

    fn remove_if_empty(&mut self, team: &str) {
        if self.teams.get(team).is_some_and(VecDeque::is_empty) {
            self.teams.remove(team);
            self.team_order.retain(|other| other != team);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a queue with one permit, which the request with number 0 of the team `first` has, and the queued requests of
    /// the given teams in this order.
    fn queue(teams: &[(&str, usize)]) -> (FairWaitQueue, Vec<(String, QueueTicket)>) {
        let mut queue = FairWaitQueue::new(1);
        assert!(queue.join("first").admitted.is_none());
        let requests = teams.iter().flat_map(|(team, count)| std::iter::repeat_n(*team, *count));
        let tickets = requests.map(|team| (team.to_owned(), queue.join(team))).collect();
        (queue, tickets)
    }

    /// Returns the teams in the order in which their requests get the permit.
    fn admission_order(queue: &mut FairWaitQueue, mut tickets: Vec<(String, QueueTicket)>) -> Vec<String> {
        let mut order = Vec::new();
        let (mut team, mut number) = ("first".to_owned(), 0);
        loop {
            queue.leave(&team, number);
            if !queue.admit_next() {
                return order;
            }
            let is_admitted = |(_, ticket): &mut (String, QueueTicket)| {
                ticket.admitted.as_mut().unwrap().try_recv().is_ok()
            };
            let index = tickets.iter_mut().position(is_admitted).expect("the admitted request is notified");
            let (next, ticket) = tickets.remove(index);
            (team, number) = (next.clone(), ticket.number);
            order.push(next);
        }
    }

    /// Returns the numbers of permits, queued requests, and teams in both collections.
    fn counts(queue: &FairWaitQueue) -> (usize, usize, usize, usize) {
        (queue.permits(), queue.queued(), queue.teams.len(), queue.team_order.len())
    }

    #[test]
    fn teams_are_admitted_round_robin() {
        let (mut queue, tickets) = queue(&[("many", 4), ("some", 2), ("few", 1)]);
        let order = admission_order(&mut queue, tickets);
        assert_eq!(order, ["many", "some", "few", "many", "some", "many", "many"]);
        assert_eq!(counts(&queue), (0, 0, 0, 0));
    }

    #[test]
    fn request_is_admitted_only_if_a_permit_is_free() {
        let mut queue = FairWaitQueue::new(1);
        let first = queue.join("red");
        let _second = queue.join("red");
        assert!(!queue.admit_next(), "no permit is free");
        queue.leave("red", first.number);
        assert!(queue.admit_next());
        assert!(!queue.admit_next(), "no request is queued");
    }

    #[test]
    fn team_with_most_queued_requests_is_evicted_for_a_team_with_fewer() {
        let (mut queue, mut tickets) = queue(&[("many", 3), ("few", 1)]);
        assert!(queue.evict_for("another"));
        let evicted = tickets.remove(2);
        assert!(evicted.1.admitted.unwrap().try_recv().is_err(), "the last request of the longest list");
        assert_eq!(queue.queued(), 3);
        // An evicted request is notified, and leaves.
        queue.leave(&evicted.0, evicted.1.number);
        assert_eq!((queue.permits(), queue.queued()), (1, 3));
        assert!(!queue.evict_for("few"), "the two teams would only change places");
        assert!(!queue.evict_for("many"));
        assert!(queue.evict_for("another"));
        assert!(!queue.evict_for("another"), "no team has more than one");
        tickets.remove(1);
        assert_eq!(admission_order(&mut queue, tickets), ["many", "few"]);
        assert_eq!(counts(&queue), (0, 0, 0, 0));
    }

    #[test]
    fn cancelled_request_leaves_no_state() {
        let (mut queue, tickets) = queue(&[("red", 2), ("blue", 1)]);
        for (team, ticket) in &tickets {
            queue.leave(team, ticket.number);
        }
        assert_eq!(counts(&queue), (1, 0, 0, 0));
        queue.leave("first", 0);
        assert!(queue.has_free_permit());
    }
}
