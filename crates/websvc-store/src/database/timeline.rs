//! Timelines of a PostgreSQL server: they show which of several primaries is the newest.
//!
//! Every promotion of a standby begins a timeline with a higher number. A primary that returns after the promotion of
//! its standby still has the old number. What is written there is lost as soon as it becomes a standby of the new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::error::StoreError;

/// Name of the file in the data directory with the newest timeline, so that a process that starts knows it.
const FILE: &str = "database-timeline";

/// A timeline of a cluster. Those of different clusters cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timeline {
    /// Identifier of the cluster, which its standbys have too.
    pub(super) cluster: u64,
    pub(super) number: u32,
}

impl Timeline {
    fn parse(text: &str) -> Option<Self> {
        let (cluster, number) = text.trim().split_once(' ')?;
        Some(Self { cluster: cluster.parse().ok()?, number: number.parse().ok()? })
    }

    fn is_older_than(self, other: Self) -> bool {
        self.cluster == other.cluster && self.number < other.number
    }
}

/// A primary has an older timeline than this process has seen.
#[derive(Debug, thiserror::Error)]
#[error(
    "it is an old primary: it is on timeline {found}, and another server of the same cluster was promoted to timeline \
     {newest}. Stop it, and make it a standby of the new primary, for example with pg_rewind"
)]
pub(super) struct OldPrimary {
    found: u32,
    newest: u32,
}

/// The newest timeline that this process, or an earlier one on its data directory, has seen.
#[derive(Debug)]
pub(super) struct History {
    file: Option<PathBuf>,
    newest: Mutex<Option<Timeline>>,
    /// Incremented when the newest timeline changes. Sessions that were opened before may no longer be used.
    generation: Arc<AtomicU64>,
}

impl History {
    /// Reads the newest timeline from a data directory. Without one, nothing is stored.
    pub(super) fn open(dir: Option<&Path>) -> Result<Self, StoreError> {
        let file = dir.map(|dir| dir.join(FILE));
        let newest = match &file {
            Some(file) => read(file).map_err(|error| StoreError::io(file, error))?,
            None => None,
        };
        Ok(Self { file, newest: Mutex::new(newest), generation: Arc::default() })
    }

    pub(super) fn newest(&self) -> Option<Timeline> {
        *self.newest.lock()
    }

    /// Returns the generation of the sessions that may be used.
    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Returns the [generation](Self::generation) as it changes.
    pub(super) fn current(&self) -> &Arc<AtomicU64> {
        &self.generation
    }

    /// Records the timeline of a primary, and returns the generation of a session with it. Later ones replace it.
    ///
    /// # Errors
    /// [`OldPrimary`]
    pub(super) fn admit(&self, host: &str, timeline: Option<Timeline>) -> Result<u64, OldPrimary> {
        let mut newest = self.newest.lock();
        let (Some(found), Some(known)) = (timeline, *newest) else {
            if let Some(first) = timeline {
                self.store(&mut newest, first);
            }
            return Ok(self.generation());
        };
        if found.is_older_than(known) {
            return Err(OldPrimary { found: found.number, newest: known.number });
        }
        if found != known {
            self.store(&mut newest, found);
            self.generation.fetch_add(1, Ordering::AcqRel);
            if found.cluster == known.cluster {
                tracing::warn!(host, timeline = found.number, "the database has a new primary");
            } else {
                tracing::warn!(host, "the database is another cluster than before");
            }
        }
        Ok(self.generation())
    }

    fn store(&self, newest: &mut Option<Timeline>, timeline: Timeline) {
        *newest = Some(timeline);
        let Some(file) = &self.file else { return };
        if let Err(error) = write(file, timeline) {
            let file = file.display().to_string();
            let error = &error as &dyn std::error::Error;
            tracing::error!(file, error, "the timeline of the database was not stored for the next start");
        }
    }
}

fn read(file: &Path) -> io::Result<Option<Timeline>> {
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let invalid =
        "it does not contain a timeline: delete the file if the configured database is the right one";
    Timeline::parse(&text).map(Some).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, invalid))
}

fn write(file: &Path, timeline: Timeline) -> io::Result<()> {
    let draft = file.with_extension(format!("{}.tmp", std::process::id()));
    let mut written = File::create(&draft)?;
    writeln!(written, "{} {}", timeline.cluster, timeline.number)?;
    written.sync_all()?;
    fs::rename(draft, file)
}

/// Returns the position of the primary to use: that with the highest timeline of the known cluster, or without one, of
/// the cluster of the first. A primary that does not say its timeline is used if there is no other.
pub(super) fn newest_of(known: Option<Timeline>, primaries: &[Option<Timeline>]) -> Option<usize> {
    let all =
        || primaries.iter().enumerate().filter_map(|(at, timeline)| timeline.map(|timeline| (at, timeline)));
    let known = known.filter(|known| all().any(|(_, timeline)| timeline.cluster == known.cluster));
    let Some(cluster) =
        known.or_else(|| all().next().map(|(_, first)| first)).map(|timeline| timeline.cluster)
    else {
        return (!primaries.is_empty()).then_some(0);
    };
    let of_cluster = all().filter(|(_, timeline)| timeline.cluster == cluster);
    // Of equal ones the first.
    of_cluster.rev().max_by_key(|(_, timeline)| timeline.number).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(cluster: u64, number: u32) -> Option<Timeline> {
        Some(Timeline { cluster, number })
    }

    #[test]
    fn primary_with_the_highest_timeline_of_the_known_cluster_is_used() {
        for (known, primaries, expected) in [
            (None, vec![], None),
            (None, vec![None, None], Some(0)),
            (None, vec![timeline(7, 1), timeline(7, 2)], Some(1)),
            (None, vec![timeline(7, 3), timeline(7, 2)], Some(0)),
            (None, vec![timeline(7, 2), timeline(7, 2)], Some(0)),
            (None, vec![None, timeline(7, 1)], Some(1)),
            (timeline(7, 9), vec![timeline(7, 1), timeline(7, 2)], Some(1)),
            (timeline(8, 1), vec![timeline(7, 5), timeline(8, 1)], Some(1)),
            (timeline(9, 1), vec![timeline(7, 1), timeline(8, 5), timeline(7, 2)], Some(2)),
        ] {
            assert_eq!(newest_of(known, &primaries), expected, "{known:?} {primaries:?}");
        }
    }

    #[test]
    fn old_primary_is_refused_and_a_new_one_ends_the_sessions_of_the_old() {
        let history = History::open(None).unwrap();
        let first = history.admit("a", timeline(7, 1)).unwrap();
        assert_eq!(history.admit("a", timeline(7, 1)).unwrap(), first);
        let second = history.admit("b", timeline(7, 2)).unwrap();
        assert!(second != first && second == history.generation());
        let error = history.admit("a", timeline(7, 1)).unwrap_err().to_string();
        assert!(error.contains("on timeline 1") && error.contains("promoted to timeline 2"), "{error}");
        assert_eq!(history.admit("b", None).unwrap(), second, "it does not say its timeline");
        assert_ne!(
            history.admit("b", timeline(8, 1)).unwrap(),
            second,
            "another cluster has another history"
        );
        assert!(history.admit("b", timeline(8, 1)).is_ok());
    }

    #[test]
    fn newest_timeline_is_known_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let history = History::open(Some(dir.path())).unwrap();
        history.admit("a", timeline(7_000_000_000_000_000_001, 1)).unwrap();
        history.admit("b", timeline(7_000_000_000_000_000_001, 3)).unwrap();
        let restarted = History::open(Some(dir.path())).unwrap();
        assert_eq!(restarted.newest(), timeline(7_000_000_000_000_000_001, 3));
        assert!(restarted.admit("a", timeline(7_000_000_000_000_000_001, 2)).is_err());
        fs::write(dir.path().join(FILE), "7").unwrap();
        let error = History::open(Some(dir.path())).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(source.contains("delete the file"), "{source}");
    }
}
