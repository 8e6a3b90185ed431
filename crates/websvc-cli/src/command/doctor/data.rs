//! The data directory and what is in it, looked at without changing it.

use std::path::{Path, PathBuf};

use indicatif::HumanBytes;
use websvc_engine::TeamIndexes;
use websvc_index::{Index, IndexConfig, IndexError, Stats};
use websvc_store::{DatabaseReport, Store, StoreError};

use super::finding::{Finding, State};
use crate::config::{Config, Provider};
use crate::data_dir::{INDEX_DIR, LOCK_FILE};
use crate::output;

const DIRECTORY: &str = "data directory";
const DISK: &str = "disk";
const DATABASE: &str = "database";
const INDEX: &str = "index";

/// Below this the database cannot even write its log.
const LEAST_FREE: u64 = 100 * 1024 * 1024;
/// Free space for a merge of the index and the log of the database.
const SPARE: u64 = 512 * 1024 * 1024;

/// Checks the directory, the disk, the database and the index; returns what the database is, too.
pub(super) async fn check(path: &Path, config: Option<&Config>) -> (Vec<Finding>, Option<DatabaseReport>) {
    let (path, max_bytes) = (path.to_owned(), config.map(|config| config.cache.max_bytes));
    let is_searched = config.is_some_and(|config| config.search.providers.contains(&Provider::Index));
    let looking = tokio::task::spawn_blocking(move || look(&path, max_bytes, is_searched));
    looking.await.unwrap_or_else(|error| {
        (vec![Finding::problem(DIRECTORY, error.to_string(), "report this: it is a defect of websvc")], None)
    })
}

fn look(path: &Path, max_bytes: Option<u64>, is_searched: bool) -> (Vec<Finding>, Option<DatabaseReport>) {
    let mut findings = vec![directory(path)];
    let (finding, store) = database(path);
    findings.push(finding);
    if let (Some(free), Some(max_bytes)) = (free_bytes(path), max_bytes) {
        let cached = store.as_ref().map_or(0, |store| store.cache.bytes);
        findings.push(disk(free, max_bytes, cached));
    }
    let expected = Expected {
        was_made: path.join(LOCK_FILE).exists(),
        // The pages of one team alone are in an index of its own.
        pages: store
            .as_ref()
            .filter(|_| is_searched)
            .map_or(0, |store| store.cache.pages.saturating_sub(store.owned_pages)),
    };
    let dir = path.join(INDEX_DIR);
    findings.push(index(&dir, &expected));
    findings.extend(faulty_team_indexes(&dir));
    (findings, store)
}

/// Checks that files can be made in the directory, or that the first start can make it.
fn directory(path: &Path) -> Finding {
    let shown = path.display();
    let is_there = path.is_dir();
    let Some(there) = nearest_directory(path) else {
        return Finding::problem(
            DIRECTORY,
            format!("{shown} cannot be made"),
            "give another by WEBSVC_DATA_DIR",
        );
    };
    match tempfile::Builder::new().prefix(".websvc-doctor-").tempfile_in(&there) {
        Ok(probe) => match probe.close() {
            Ok(()) if is_there => Finding::ok(DIRECTORY, format!("{shown} can be written to")),
            Ok(()) => Finding::ok(DIRECTORY, format!("{shown} does not exist yet: the first start makes it")),
            Err(error) => Finding::problem(
                DIRECTORY,
                format!("a file in {} cannot be removed again: {error}", there.display()),
                "let the user that runs websvc own the directory",
            ),
        },
        Err(error) => Finding::problem(
            DIRECTORY,
            format!("no file can be made in {}: {error}", there.display()),
            format!(
                "let the user that runs websvc own it (chown), or give another than {shown} by WEBSVC_DATA_DIR"
            ),
        ),
    }
}

/// Returns the directory, or the nearest one above it that exists.
fn nearest_directory(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let there = path.ancestors().find(|path| path.exists())?;
    there.is_dir().then(|| there.to_owned())
}

#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(nearest_directory(path)?).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_path: &Path) -> Option<u64> {
    None
}

/// Compares the free disk with what the page cache may still grow by.
fn disk(free: u64, max_bytes: u64, cached: u64) -> Finding {
    let growth = max_bytes.saturating_sub(cached);
    let [free_shown, growth_shown] = [free, growth].map(HumanBytes);
    let message = format!("{free_shown} free; the page cache may take {growth_shown} more, beside the index");
    if free < LEAST_FREE {
        Finding::problem(DISK, message, "free space, or give a data directory on another disk")
    } else if free < growth.saturating_add(SPARE) {
        Finding::warning(DISK, message, "free space, or lower `cache.max_bytes`")
    } else {
        Finding::ok(DISK, message)
    }
}

fn database(path: &Path) -> (Finding, Option<DatabaseReport>) {
    match Store::inspect(path) {
        Ok(None) => (Finding::ok(DATABASE, "none yet: the first start makes it"), None),
        Ok(Some(found)) => {
            let DatabaseReport {
                schema,
                supported,
                keys: _,
                revoked_keys: _,
                audited_teams: _,
                cache,
                owned_pages: _,
            } = &found;
            let message = format!(
                "sound, version {schema}, {} pages in {} of cache",
                cache.pages,
                HumanBytes(cache.bytes)
            );
            let message = if schema < supported {
                format!("{message}; the next start brings it to {supported}")
            } else {
                message
            };
            (Finding::ok(DATABASE, message), Some(found))
        }
        Err(error) => (Finding::problem(DATABASE, output::causes(&error), repair_advice(&error)), None),
    }
}

fn repair_advice(error: &StoreError) -> &'static str {
    match error {
        StoreError::NewerSchema { .. } => {
            "run the newer websvc that wrote it, or give another data directory"
        }
        StoreError::Corrupt { .. } => {
            "put back a copy of websvc.db, or move it away to begin afresh: keys and cached pages are in it"
        }
        StoreError::Busy { .. } => "wait until the other process is done, or end it",
        StoreError::Full { .. } => "free space on the disk",
        _ => "let the user that runs websvc read and write the file",
    }
}

/// Evidence that an index should exist.
#[derive(Debug, Default)]
struct Expected {
    /// A process opened the data directory to write an index.
    was_made: bool,
    /// Pages of the cache, which came to the index with it; none where the index is not searched.
    pages: u64,
}

/// So many cached pages and no document mean that the index is another one than it was; fewer may have had no text.
const TELLING_PAGES: u64 = 20;

const BRING_BACK: &str = "put back the directory `index` of a copy (`websvc backup` makes them), or crawl or import again; \
    until then searches find nothing there";

/// Checks that the index is there, can be opened, and has the bytes that were written.
fn index(dir: &Path, expected: &Expected) -> Finding {
    // Opening makes what is missing, and nothing is to be made here.
    if !dir.join("meta.json").exists() {
        let shown = dir.display();
        return match (dir.exists(), expected.was_made) {
            (false, false) => Finding::ok(INDEX, "none yet: the first start makes it"),
            (false, true) => Finding::problem(INDEX, format!("{shown} was there and is gone"), BRING_BACK),
            (true, _) => {
                Finding::problem(INDEX, format!("{shown} has no meta.json: it is damaged"), BRING_BACK)
            }
        };
    }
    if !dir.join("images").join("meta.json").exists() {
        return Finding::warning(
            INDEX,
            "without its images",
            "the next start makes an empty part for them; if they were there, put back a copy or crawl again",
        );
    }
    match open(dir) {
        Ok((stats, damaged)) if damaged.is_empty() => of_stats(dir, &stats, expected),
        Ok((_, damaged)) => {
            let names: Vec<String> = damaged.iter().take(3).map(|path| path.display().to_string()).collect();
            let message =
                format!("{} files of {} are damaged: {}", damaged.len(), dir.display(), names.join(", "));
            Finding::problem(INDEX, message, BRING_BACK)
        }
        Err(error) => {
            let advice = match &error {
                IndexError::Directory { .. } => "let the user that runs websvc read and write the directory",
                _ => "move the directory away and crawl or import again, or put back a copy",
            };
            Finding::problem(INDEX, output::causes(&error), advice)
        }
    }
}

/// Checks the indexes of the teams that have one of their own, and returns what is wrong with them.
fn faulty_team_indexes(dir: &Path) -> Vec<Finding> {
    let owners = match TeamIndexes::new(dir, IndexConfig::default(), false).owners() {
        Ok(owners) => owners,
        Err(error) => {
            let advice = "let the user that runs websvc read and write the directory";
            return vec![Finding::problem(INDEX, output::causes(&error), advice)];
        }
    };
    let dirs = owners.into_iter().map(|owner| dir.join(TeamIndexes::folder_of(owner)));
    let findings = dirs.filter(|dir| dir.exists()).map(|dir| index(&dir, &Expected::default()));
    findings.filter(|finding| finding.state != State::Ok).collect()
}

fn open(dir: &Path) -> Result<(Stats, Vec<PathBuf>), IndexError> {
    let index = Index::open(dir, IndexConfig::default())?;
    let damaged = match index.damaged_files() {
        Ok(damaged) if damaged.is_empty() => damaged,
        // A service that merges meanwhile takes files away: what is damaged is so the second time, too.
        Ok(_) | Err(_) => index.damaged_files()?,
    };
    Ok((index.stats()?, damaged))
}

fn of_stats(dir: &Path, stats: &Stats, expected: &Expected) -> Finding {
    let format = std::fs::read_to_string(dir.join("format")).unwrap_or_default();
    let message = format!(
        "{} documents, {} in {} segments, format {}",
        stats.documents,
        HumanBytes(stats.bytes),
        stats.segments,
        format.trim()
    );
    if stats.documents == 0 && expected.pages >= TELLING_PAGES {
        return Finding::warning(
            INDEX,
            format!(
                "{message}, while the cache has {} pages: it may be a new one in place of one that was lost",
                expected.pages
            ),
            BRING_BACK,
        );
    }
    Finding::ok(INDEX, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_free_disk_is_compared_with_what_the_cache_may_take() {
        const GB: u64 = 1 << 30;
        for (free, max_bytes, cached, expected) in [
            (10 * GB, GB, 0, State::Ok),
            (GB, GB, 0, State::Warning),
            (GB, GB, GB, State::Ok),
            (GB, GB, 2 * GB, State::Ok),
            (50 << 20, 0, 0, State::Problem),
            (u64::MAX - 1, u64::MAX, 0, State::Warning),
        ] {
            assert_eq!(disk(free, max_bytes, cached).state, expected, "{free} {max_bytes} {cached}");
        }
    }

    #[test]
    fn nothing_is_left_in_a_directory_or_made_where_none_is() {
        let parent = tempfile::tempdir().unwrap();
        let empty = || std::fs::read_dir(parent.path()).unwrap().next().is_none();
        assert_eq!(directory(parent.path()).state, State::Ok);
        let finding = directory(&parent.path().join("not/yet"));
        assert!(finding.message.ends_with("the first start makes it"), "{finding:?}");
        assert_eq!(index(&parent.path().join(INDEX_DIR), &Expected::default()).state, State::Ok);
        assert_eq!(database(parent.path()).0.state, State::Ok);
        assert!(empty());
        std::fs::write(parent.path().join("file"), "").unwrap();
        assert_eq!(directory(&parent.path().join("file/data")).state, State::Problem);
    }

    #[test]
    fn an_index_of_another_format_is_a_problem() {
        let parent = tempfile::tempdir().unwrap();
        drop(Index::open(parent.path(), IndexConfig::default()).unwrap());
        let found = index(parent.path(), &Expected::default());
        assert_eq!(found.state, State::Ok, "{found:?}");
        assert!(found.message.contains("format websvc-index"), "{found:?}");
        std::fs::write(parent.path().join("format"), "websvc-index 0").unwrap();
        assert_eq!(index(parent.path(), &Expected::default()).state, State::Problem);
    }

    fn document(number: u32) -> websvc_index::Document {
        websvc_index::Document {
            url: format!("http://a.test/{number}"),
            title: "Tea".to_owned(),
            body: "Green tea wants water of seventy degrees.".to_owned(),
            ..websvc_index::Document::default()
        }
    }

    #[test]
    fn index_that_is_lost_or_damaged_is_a_problem() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join(INDEX_DIR);
        let expected = Expected { was_made: true, pages: 0 };
        let lost = index(&dir, &expected);
        assert_eq!(lost.state, State::Problem, "{lost:?}");
        assert!(lost.message.ends_with("was there and is gone"), "{lost:?}");
        let made = Index::open(&dir, IndexConfig::default()).unwrap();
        (0..50).try_for_each(|number| made.add(document(number))).unwrap();
        made.flush().unwrap();
        made.close().unwrap();
        assert_eq!(index(&dir, &expected).state, State::Ok);
        let store = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let store =
            store.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "store")).unwrap();
        let sound = std::fs::read(&store).unwrap();
        let mut bytes = sound.clone();
        let middle = bytes.len() / 3;
        bytes[middle] ^= 0xff;
        std::fs::write(&store, bytes).unwrap();
        let damaged = index(&dir, &expected);
        assert_eq!(damaged.state, State::Problem, "{damaged:?}");
        std::fs::remove_file(&store).unwrap();
        assert_eq!(index(&dir, &expected).state, State::Problem);
        std::fs::write(&store, sound).unwrap();
        assert_eq!(index(&dir, &expected).state, State::Ok);
        std::fs::remove_file(dir.join("meta.json")).unwrap();
        let headless = index(&dir, &expected);
        assert_eq!(headless.state, State::Problem);
        assert!(headless.message.contains("meta.json"), "{headless:?}");
    }

    #[test]
    fn empty_index_beside_a_full_cache_is_warned_of() {
        let parent = tempfile::tempdir().unwrap();
        drop(Index::open(parent.path(), IndexConfig::default()).unwrap());
        for (pages, state) in [(0, State::Ok), (5, State::Ok), (500, State::Warning)] {
            assert_eq!(index(parent.path(), &Expected { was_made: true, pages }).state, state, "{pages}");
        }
    }
}
