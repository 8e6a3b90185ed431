//! Table of the compiled path patterns of crawls and maps.
//!
//! Equal patterns are compiled once and shared. Their memory is limited per request, per team and for the process, and
//! it is freed when the last plan that uses a pattern is dropped.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use websvc_types::limits::{
    PATH_PATTERNS_MAX_BYTES, PATH_PATTERNS_MAX_BYTES_PER_TEAM, PATH_PATTERNS_MAX_BYTES_TOTAL,
};

use crate::path_pattern::{CompileError, PathPattern};

/// Limits of the memory of compiled path patterns, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternLimits {
    /// Limit of the patterns of one request.
    pub request: usize,
    /// Limit of the distinct patterns of all requests and jobs of a team.
    pub team: usize,
    /// Limit of all distinct patterns.
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

/// Handle of a team on the table of compiled path patterns. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct PathPatterns {
    table: Arc<Table>,
    team: Arc<str>,
}

/// Handles are equal if they are of the same team and table.
impl PartialEq for PathPatterns {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table) && self.team == other.team
    }
}

impl Eq for PathPatterns {}

/// Number and memory of the compiled path patterns in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PatternUsage {
    /// Number of distinct patterns in use.
    pub patterns: usize,
    /// Their maximum memory, in bytes.
    pub bytes: usize,
}

impl PathPatterns {
    /// Creates a table with these limits.
    #[must_use]
    pub fn new(limits: PatternLimits) -> Self {
        Self { table: Arc::new(Table { limits, state: Mutex::default() }), team: Arc::default() }
    }

    /// Returns the handle of a team on the same table.
    #[must_use]
    pub fn for_team(&self, team: &str) -> Self {
        Self { table: Arc::clone(&self.table), team: team.into() }
    }

    /// Returns number and memory of the patterns in the table.
    #[must_use]
    pub fn usage(&self) -> PatternUsage {
        let state = self.table.lock();
        PatternUsage { patterns: state.entries.len(), bytes: state.bytes }
    }

    /// Starts to compile the patterns of a request.
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
    /// Bytes of the distinct patterns of each team that uses any.
    teams: HashMap<Arc<str>, usize>,
    /// Bytes of all distinct patterns.
    bytes: usize,
}

/// Pattern with the number of leases that use it, by team. An entry without leases is removed.
#[derive(Debug)]
struct Entry {
    pattern: Arc<PathPattern>,
    leases: HashMap<Arc<str>, usize>,
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Error of adding a pattern to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// The pattern cannot be compiled.
    Compile(CompileError),
    /// The patterns of the request would take more than this number of bytes.
    RequestFull(usize),
}

/// Patterns of a request during compilation.
#[derive(Debug)]
pub(crate) struct PatternRequest {
    handle: PathPatterns,
    patterns: Vec<Arc<PathPattern>>,
    /// Indexes in `patterns` by text.
    indexes: HashMap<Arc<str>, usize>,
    /// Memory of the patterns, and of failed compilations.
    bytes: usize,
}

impl PatternRequest {
    /// Compiles a pattern, unless it is in the table, and returns its index in the lease.
    pub(crate) fn add(&mut self, text: &str) -> Result<usize, PatternError> {
        if let Some(index) = self.indexes.get(text) {
            return Ok(*index);
        }
        let limit = self.handle.table.limits.request;
        let remaining = limit.saturating_sub(self.bytes);
        let shared = self.handle.table.lock().entries.get(text).map(|entry| Arc::clone(&entry.pattern));
        let pattern = match shared {
            Some(pattern) => pattern,
            // The remaining bytes also limit the work of all compilations of a request.
            None => match PathPattern::compile(text, remaining) {
                Ok(pattern) => Arc::new(pattern),
                Err(CompileError::TooBig(bytes)) if bytes == remaining => {
                    return Err(PatternError::RequestFull(limit));
                }
                Err(error) => {
                    if let CompileError::TooBig(bytes) = error {
                        // The failed compilation cost as much work as a successful one.
                        self.bytes += bytes;
                    }
                    return Err(PatternError::Compile(error));
                }
            },
        };
        if pattern.bytes() > remaining {
            return Err(PatternError::RequestFull(limit));
        }
        self.bytes += pattern.bytes();
        let index = self.patterns.len();
        self.indexes.insert(Arc::clone(pattern.text()), index);
        self.patterns.push(pattern);
        Ok(index)
    }

    /// Adds the patterns to the table until the lease is dropped.
    ///
    /// # Errors
    /// A message for the caller if the patterns exceed the limit of the team or of the process.
    pub(crate) fn lease(self) -> Result<PatternLease, String> {
        let Self { handle: PathPatterns { table, team }, mut patterns, .. } = self;
        let mut state = table.lock();
        let (mut added, mut added_by_team) = (0, 0);
        for pattern in &mut patterns {
            match state.entries.get(pattern.text()) {
                Some(entry) => {
                    // Another request may have compiled it at the same time.
                    *pattern = Arc::clone(&entry.pattern);
                    added_by_team += if entry.leases.contains_key(&team) { 0 } else { pattern.bytes() };
                }
                None => {
                    added += pattern.bytes();
                    added_by_team += pattern.bytes();
                }
            }
        }
        let limits = table.limits;
        let team_bytes = state.teams.get(&team).copied().unwrap_or_default() + added_by_team;
        if added_by_team > 0 && team_bytes > limits.team {
            return Err(limit_message("the running crawls and maps of a team", limits.team));
        }
        if added > 0 && state.bytes + added > limits.total {
            return Err(limit_message("all running crawls and maps", limits.total));
        }
        state.bytes += added;
        if added_by_team > 0 {
            state.teams.insert(Arc::clone(&team), team_bytes);
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

fn limit_message(owner: &str, bytes: usize) -> String {
    format!(
        "Rate limit exceeded: the path patterns of {owner} would take more than {bytes} bytes of memory; try again when \
         some have ended, or use fewer or shorter includePaths and excludePaths"
    )
}

/// Patterns of a plan, which count towards the limits until the lease is dropped.
#[derive(Debug)]
pub(crate) struct PatternLease {
    table: Arc<Table>,
    team: Arc<str>,
    patterns: Vec<Arc<PathPattern>>,
}

impl PatternLease {
    /// Returns the pattern with this index, as returned by [`PatternRequest::add`].
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
            if let Some(team_bytes) = teams.get_mut(&self.team) {
                *team_bytes = team_bytes.saturating_sub(pattern.bytes());
                if *team_bytes == 0 {
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
