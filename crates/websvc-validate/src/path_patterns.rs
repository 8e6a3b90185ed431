//! The compiled path patterns of crawls and maps: equal ones are compiled once and shared, their memory is bounded for
//! each request, each team and the process, and it is free when the last plan that uses them is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use websvc_types::limits::{
    PATH_PATTERNS_MAX_BYTES, PATH_PATTERNS_MAX_BYTES_PER_TEAM, PATH_PATTERNS_MAX_BYTES_TOTAL,
};

use crate::path_pattern::{CompileError, PathPattern};

/// Bounds of the memory of compiled path patterns, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternLimits {
    /// Patterns of one request.
    pub request: usize,
    /// Different patterns of the requests and jobs of one team.
    pub team: usize,
    /// Different patterns of all.
    pub total: usize,
}

impl Default for PatternLimits {
    fn default() -> Self {
        Self {
            request: PATH_PATTERNS_MAX_BYTES,
            team: PATH_PATTERNS_MAX_BYTES_PER_TEAM,
            total: PATH_PATTERNS_MAX_BYTES_TOTAL,
        }
    }
}

/// Handle of one team on the table of compiled path patterns. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct PathPatterns {
    table: Arc<Table>,
    team: Arc<str>,
}

/// Handles are equal when they are of one team and one table.
impl PartialEq for PathPatterns {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table) && self.team == other.team
    }
}

impl Eq for PathPatterns {}

/// Memory of the compiled path patterns of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PatternUsage {
    /// Different patterns that are in use.
    pub patterns: usize,
    /// The most that they take, in bytes.
    pub bytes: usize,
}

impl PathPatterns {
    /// Makes a table.
    #[must_use]
    pub fn new(limits: PatternLimits) -> Self {
        Self { table: Arc::new(Table { limits, state: Mutex::default() }), team: Arc::default() }
    }

    /// Returns the handle of a team on the same table.
    #[must_use]
    pub fn of_team(&self, team: &str) -> Self {
        Self { table: Arc::clone(&self.table), team: team.into() }
    }

    /// Returns what the table holds.
    #[must_use]
    pub fn usage(&self) -> PatternUsage {
        let state = self.table.lock();
        PatternUsage { patterns: state.entries.len(), bytes: state.bytes }
    }

    /// Begins to compile the patterns of a request.
    pub(crate) fn request(&self) -> PatternRequest {
        PatternRequest { handle: self.clone(), patterns: Vec::new(), indexes: HashMap::new(), bytes: 0 }
    }
}

#[derive(Debug, Default)]
struct Table {
    limits: PatternLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Arc<str>, Entry>,
    /// Bytes of the different patterns of each team that uses any.
    teams: HashMap<Arc<str>, usize>,
    bytes: usize,
}

/// A pattern with the number of leases that use it, by team. Nobody is left of an entry without one.
#[derive(Debug)]
struct Entry {
    pattern: Arc<PathPattern>,
    leases: HashMap<Arc<str>, usize>,
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason why a pattern is not taken into a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// It cannot be compiled.
    Compile(CompileError),
    /// The patterns of the request would take more than these bytes.
    RequestFull(usize),
}

/// The patterns of a request while they are compiled.
#[derive(Debug)]
pub(crate) struct PatternRequest {
    handle: PathPatterns,
    patterns: Vec<Arc<PathPattern>>,
    indexes: HashMap<Arc<str>, usize>,
    bytes: usize,
}

impl PatternRequest {
    /// Compiles a pattern, unless that was done before, and returns its index in the lease.
    pub(crate) fn add(&mut self, text: &str) -> Result<usize, PatternError> {
        if let Some(index) = self.indexes.get(text) {
            return Ok(*index);
        }
        let limit = self.handle.table.limits.request;
        let left = limit.saturating_sub(self.bytes);
        let shared = self.handle.table.lock().entries.get(text).map(|entry| Arc::clone(&entry.pattern));
        let pattern = match shared {
            Some(pattern) => pattern,
            // What is left bounds the work, too: all patterns of a request cost no more than the bytes that they may have.
            None => match PathPattern::compile(text, left) {
                Ok(pattern) => Arc::new(pattern),
                Err(CompileError::TooBig(bytes)) if bytes == left => {
                    return Err(PatternError::RequestFull(limit));
                }
                Err(error) => {
                    if let CompileError::TooBig(bytes) = error {
                        // It cost as much work as one that fits.
                        self.bytes += bytes;
                    }
                    return Err(PatternError::Compile(error));
                }
            },
        };
        if pattern.bytes() > left {
            return Err(PatternError::RequestFull(limit));
        }
        self.bytes += pattern.bytes();
        let index = self.patterns.len();
        self.indexes.insert(Arc::clone(pattern.text()), index);
        self.patterns.push(pattern);
        Ok(index)
    }

    /// Enters the patterns into the table for as long as the lease lives.
    ///
    /// # Errors
    /// A sentence for the caller when the team or the process has no room for them.
    pub(crate) fn lease(self) -> Result<PatternLease, String> {
        let Self { handle: PathPatterns { table, team }, mut patterns, .. } = self;
        let mut state = table.lock();
        let (mut new, mut new_of_team) = (0, 0);
        for pattern in &mut patterns {
            match state.entries.get(pattern.text()) {
                Some(entry) => {
                    // Perhaps another request compiled it at the same time.
                    *pattern = Arc::clone(&entry.pattern);
                    new_of_team += if entry.leases.contains_key(&team) { 0 } else { pattern.bytes() };
                }
                None => {
                    new += pattern.bytes();
                    new_of_team += pattern.bytes();
                }
            }
        }
        let limits = table.limits;
        let of_team = state.teams.get(&team).copied().unwrap_or_default() + new_of_team;
        if new_of_team > 0 && of_team > limits.team {
            return Err(full("the crawls and maps of a team", limits.team));
        }
        if new > 0 && state.bytes + new > limits.total {
            return Err(full("all crawls and maps", limits.total));
        }
        state.bytes += new;
        if new_of_team > 0 {
            state.teams.insert(Arc::clone(&team), of_team);
        }
        for pattern in &patterns {
            let entry = state
                .entries
                .entry(Arc::clone(pattern.text()))
                .or_insert_with(|| Entry { pattern: Arc::clone(pattern), leases: HashMap::new() });
            *entry.leases.entry(Arc::clone(&team)).or_default() += 1;
        }
        drop(state);
        Ok(PatternLease { table, team, patterns })
    }
}

fn full(of: &str, bytes: usize) -> String {
    format!(
        "Rate limit exceeded: the patterns of {of} that run would take more than the {bytes} bytes of memory that they \
         may; try again when some have ended, or use fewer or shorter includePaths and excludePaths"
    )
}

/// The patterns of a plan. They count until it is dropped.
#[derive(Debug)]
pub(crate) struct PatternLease {
    table: Arc<Table>,
    team: Arc<str>,
    patterns: Vec<Arc<PathPattern>>,
}

impl PatternLease {
    /// Returns a pattern by the index that adding it returned.
    pub(crate) fn get(&self, index: usize) -> Option<&PathPattern> {
        self.patterns.get(index).map(|pattern| &**pattern)
    }
}

impl Drop for PatternLease {
    fn drop(&mut self) {
        let mut state = self.table.lock();
        let State { entries, teams, bytes } = &mut *state;
        for pattern in &self.patterns {
            let Some(entry) = entries.get_mut(pattern.text()) else { continue };
            let Some(leases) = entry.leases.get_mut(&self.team) else { continue };
            *leases -= 1;
            if *leases > 0 {
                continue;
            }
            entry.leases.remove(&self.team);
            if let Some(of_team) = teams.get_mut(&self.team) {
                *of_team = of_team.saturating_sub(pattern.bytes());
                if *of_team == 0 {
                    teams.remove(&self.team);
                }
            }
            if entry.leases.is_empty() {
                entries.remove(pattern.text());
                *bytes = bytes.saturating_sub(pattern.bytes());
            }
        }
    }
}

#[cfg(test)]
#[path = "path_patterns/tests.rs"]
mod tests;
