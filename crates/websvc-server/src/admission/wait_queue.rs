//! Places that are few, and who waits for one: first come, first served within a team, and teams take turns.

use std::collections::{HashMap, HashSet, VecDeque};

use tokio::sync::oneshot;

/// The state of a line. Whoever takes a place or waits for one has a number, and has to [`leave`](Self::leave).
#[derive(Debug)]
pub(super) struct FairWaitQueue {
    places: usize,
    /// The numbers of those who have a place.
    taken: HashSet<u64>,
    waiting: usize,
    /// Those who wait, by team; none of these lists is empty.
    teams: HashMap<String, VecDeque<Waiter>>,
    /// The teams of which somebody waits, each once, in the order of their turns.
    turns: VecDeque<String>,
    next_number: u64,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    turn: oneshot::Sender<()>,
}

/// What somebody gets who asks for a place.
#[derive(Debug)]
pub(super) struct QueueTicket {
    pub(super) number: u64,
    /// What says that it is there, when it has to be waited for; it closes without a word when there will be none.
    pub(super) turn: Option<oneshot::Receiver<()>>,
}

impl FairWaitQueue {
    pub(super) fn new(places: usize) -> Self {
        Self {
            places,
            taken: HashSet::new(),
            waiting: 0,
            teams: HashMap::new(),
            turns: VecDeque::new(),
            next_number: 0,
        }
    }

    pub(super) fn taken(&self) -> usize {
        self.taken.len()
    }

    /// Tells whether this number has a place.
    pub(super) fn has(&self, number: u64) -> bool {
        self.taken.contains(&number)
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    pub(super) fn waiting_of(&self, team: &str) -> usize {
        self.teams.get(team).map_or(0, VecDeque::len)
    }

    pub(super) fn has_room(&self) -> bool {
        self.taken.len() < self.places
    }

    /// Takes a place, or a place among those who wait.
    pub(super) fn join(&mut self, team: &str) -> QueueTicket {
        let number = self.next_number;
        self.next_number += 1;
        if self.has_room() {
            self.taken.insert(number);
            return QueueTicket { number, turn: None };
        }
        let (sender, turn) = oneshot::channel();
        let waiter = Waiter { number, turn: sender };
        match self.teams.get_mut(team) {
            Some(waiters) => waiters.push_back(waiter),
            None => {
                self.teams.insert(team.to_owned(), VecDeque::from([waiter]));
                self.turns.push_back(team.to_owned());
            }
        }
        self.waiting += 1;
        QueueTicket { number, turn: Some(turn) }
    }

    /// Gives up a place, or the waiting for one. Says nothing to those who wait: [`let_one_in`](Self::let_one_in) does.
    pub(super) fn leave(&mut self, team: &str, number: u64) {
        if self.taken.remove(&number) {
            return;
        }
        let Some(waiters) = self.teams.get_mut(team) else { return };
        let before = waiters.len();
        waiters.retain(|waiter| waiter.number != number);
        self.waiting -= before - waiters.len();
        self.forget_if_empty(team);
    }

    /// Gives a free place to the next who waits; false when there is no such place or nobody waits.
    pub(super) fn admit_next(&mut self) -> bool {
        if !self.has_room() {
            return false;
        }
        let Some(team) = self.turns.pop_front() else { return false };
        let Some(waiters) = self.teams.get_mut(&team) else { return false };
        let Some(waiter) = waiters.pop_front() else { return false };
        if waiters.is_empty() {
            self.teams.remove(&team);
        } else {
            self.turns.push_back(team);
        }
        self.waiting -= 1;
        self.taken.insert(waiter.number);
        // Whoever gave up at this moment leaves as one who has a place.
        let _ = waiter.turn.send(());
        true
    }

    /// Makes room for a request of `team` at the cost of the team that has the most waiting, whose last is sent away;
    /// false when no team has so many more that the two would not just change places.
    pub(super) fn evict_for(&mut self, team: &str) -> bool {
        let own = self.teams.get(team).map_or(0, VecDeque::len);
        let longest = self.teams.iter().max_by_key(|(_, waiters)| waiters.len());
        let Some((longest, waiters)) = longest else { return false };
        if waiters.len() < own + 2 {
            return false;
        }
        let longest = longest.clone();
        let pushed_out = self.teams.get_mut(&longest).and_then(VecDeque::pop_back);
        self.waiting -= usize::from(pushed_out.is_some());
        pushed_out.is_some()
    }

    fn forget_if_empty(&mut self, team: &str) {
        if self.teams.get(team).is_some_and(VecDeque::is_empty) {
            self.teams.remove(team);
            self.turns.retain(|waiting| waiting != team);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets so many of each team wait behind one who has the only place, whose number is 0; those are told in this order.
    fn line(teams: &[(&str, usize)]) -> (FairWaitQueue, Vec<(String, QueueTicket)>) {
        let mut line = FairWaitQueue::new(1);
        assert!(line.join("first").turn.is_none());
        let requests = teams.iter().flat_map(|(team, count)| std::iter::repeat_n(*team, *count));
        let waiting = requests.map(|team| (team.to_owned(), line.join(team))).collect();
        (line, waiting)
    }

    /// Returns the teams in the order in which they come to the place.
    fn order(line: &mut FairWaitQueue, mut waiting: Vec<(String, QueueTicket)>) -> Vec<String> {
        let mut order = Vec::new();
        let (mut team, mut number) = ("first".to_owned(), 0);
        loop {
            line.leave(&team, number);
            if !line.admit_next() {
                return order;
            }
            let told =
                |(_, place): &mut (String, QueueTicket)| place.turn.as_mut().unwrap().try_recv().is_ok();
            let at = waiting.iter_mut().position(told).expect("who is let in is told");
            let (next, place) = waiting.remove(at);
            (team, number) = (next.clone(), place.number);
            order.push(next);
        }
    }

    #[test]
    fn teams_take_turns() {
        let (mut line, waiting) = line(&[("many", 4), ("some", 2), ("few", 1)]);
        assert_eq!(order(&mut line, waiting), ["many", "some", "few", "many", "some", "many", "many"]);
        assert_eq!((line.taken(), line.waiting(), line.teams.len(), line.turns.len()), (0, 0, 0, 0));
    }

    #[test]
    fn nobody_is_let_in_without_a_free_place() {
        let mut line = FairWaitQueue::new(1);
        let first = line.join("red");
        let _second = line.join("red");
        assert!(!line.admit_next(), "there is no place");
        line.leave("red", first.number);
        assert!(line.admit_next());
        assert!(!line.admit_next(), "nobody waits");
    }

    #[test]
    fn who_has_most_makes_room_for_who_has_little() {
        let (mut line, mut waiting) = line(&[("many", 3), ("few", 1)]);
        assert!(line.evict_for("another"));
        let pushed_out = waiting.remove(2);
        assert!(pushed_out.1.turn.unwrap().try_recv().is_err(), "the last of those who have most");
        assert_eq!(line.waiting(), 3);
        // It was told, and goes.
        line.leave(&pushed_out.0, pushed_out.1.number);
        assert_eq!((line.taken(), line.waiting()), (1, 3));
        assert!(!line.evict_for("few"), "they would only change places");
        assert!(!line.evict_for("many"));
        assert!(line.evict_for("another"));
        assert!(!line.evict_for("another"), "nobody has more than one");
        waiting.remove(1);
        assert_eq!(order(&mut line, waiting), ["many", "few"]);
        assert_eq!((line.taken(), line.waiting(), line.teams.len(), line.turns.len()), (0, 0, 0, 0));
    }

    #[test]
    fn whoever_gives_up_leaves_no_trace() {
        let (mut line, waiting) = line(&[("red", 2), ("blue", 1)]);
        for (team, place) in &waiting {
            line.leave(team, place.number);
        }
        assert_eq!((line.taken(), line.waiting(), line.teams.len(), line.turns.len()), (1, 0, 0, 0));
        line.leave("first", 0);
        assert!(line.has_room());
    }
}
