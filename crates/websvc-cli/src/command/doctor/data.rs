//! Checks of the data directory, disk, database and index, which change nothing.

use std::path::{Path, PathBuf};

use websvc_engine::TeamIndexes;
use websvc_index::{Index, IndexConfig, IndexError, Stats};
use websvc_store::{DatabaseReport, DiskSpace, ServerReport, Store, StoreError};
use websvc_types::counted;

use super::finding::{Finding, State};
use crate::app::{self, DatabaseServer};
use crate::config::{Config, Provider};
use crate::data_dir::{INDEX_DIR, LOCK_FILE};
use crate::human_bytes::HumanBytes;
use crate::output;

const DIRECTORY: &str = "data directory";
const DISK: &str = "disk";
const DATABASE: &str = "database";
const INDEX: &str = "index";

/// Minimum free space. With less, the database cannot write its log.
const MIN_FREE_BYTES: u64 = 100 * 1024 * 1024;
/// Free space that a merge of the index and the log of the database need.
const SPARE_BYTES: u64 = 512 * 1024 * 1024;

/// Checks the directory, the disk, the database and the index. Also returns the report of the database.
pub(super) async fn check(path: &Path, config: Option<&Config>) -> (Vec<Finding>, Option<DatabaseReport>) {
    let (path, max_bytes) = (path.to_owned(), config.map(|config| config.cache.max_bytes));
    let is_searched = config.is_some_and(|config| config.search.providers.contains(&Provider::Index));
    // An invalid URL is a finding of the check of the values.
    let server = config.and_then(|config| app::database_server(config).ok().flatten());
    let checks = websvc_transport::spawn_blocking(move || run_checks(&path, max_bytes, is_searched, server));
    checks.await.unwrap_or_else(|error| (vec![Finding::bug(DIRECTORY, &error)], None))
}

fn run_checks(
    path: &Path,
    max_bytes: Option<u64>,
    is_searched: bool,
    server: Option<DatabaseServer>,
) -> (Vec<Finding>, Option<DatabaseReport>) {
    let mut findings = vec![directory(path)];
    let (finding, store) = match server {
        Some(server) => (database_server(server), None),
        None => database(path),
    };
    findings.push(finding);
    if let (Some(free), Some(max_bytes)) = (free_bytes(path), max_bytes) {
        let cached = store.as_ref().map_or(0, |store| store.cache.bytes);
        findings.push(disk(free, max_bytes, cached));
    }
    let expected = Expected {
        was_created: path.join(LOCK_FILE).exists(),
        // The private pages of a team are in the index of the team.
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

/// Checks that files can be created in the directory, or that the first start can create it.
fn directory(path: &Path) -> Finding {
    let shown = path.display();
    let exists = path.is_dir();
    let Some(existing) = nearest_directory(path) else {
        return Finding::problem(DIRECTORY, format!("{shown} cannot be created"))
            .advice("set WEBSVC_DATA_DIR to another directory");
    };
    let problem = |verb: &str, error: std::io::Error| {
        let message = format!("cannot {verb} a file in {}: {error}", existing.display());
        Finding::problem(DIRECTORY, message)
    };
    let probe = tempfile::Builder::new().prefix(".websvc-doctor-").tempfile_in(&existing);
    match probe.map(tempfile::NamedTempFile::close) {
        Ok(Ok(())) if exists => Finding::ok(DIRECTORY, format!("{shown} is writable")),
        Ok(Ok(())) => {
            Finding::ok(DIRECTORY, format!("{shown} does not exist yet: the first start creates it"))
        }
        Ok(Err(error)) => {
            problem("remove", error).advice("make the user that runs websvc the owner of the directory")
        }
        Err(error) => problem("create", error).advice(format!(
            "make the user that runs websvc its owner (chown), or set WEBSVC_DATA_DIR to one other than {shown}"
        )),
    }
}

/// Returns the directory, or its nearest existing ancestor.
fn nearest_directory(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find(|path| path.exists())?;
    existing.is_dir().then(|| existing.to_owned())
}

fn free_bytes(path: &Path) -> Option<u64> {
    DiskSpace::read(&nearest_directory(path)?).map(|space| space.available_bytes)
}

/// Compares the free space with the possible growth of the page cache.
fn disk(free: u64, max_bytes: u64, cached: u64) -> Finding {
    let growth = max_bytes.saturating_sub(cached);
    let [free_shown, growth_shown] = [free, growth].map(HumanBytes);
    let message =
        format!("{free_shown} free; the page cache may grow by {growth_shown}, and the index grows, too");
    if free < MIN_FREE_BYTES {
        Finding::problem(DISK, message).advice("free space, or use a data directory on another disk")
    } else if free < growth.saturating_add(SPARE_BYTES) {
        Finding::warning(DISK, message).advice("free space, or lower `cache.max_bytes`")
    } else {
        Finding::ok(DISK, message)
    }
}

fn database(path: &Path) -> (Finding, Option<DatabaseReport>) {
    match Store::inspect(path) {
        Ok(None) => (Finding::ok(DATABASE, "none yet: the first start creates it"), None),
        Ok(Some(found)) => {
            let DatabaseReport { schema, supported, cache, .. } = &found;
            let message = format!(
                "valid, version {schema}, {} in {}",
                counted(cache.pages, "cached page", "cached pages"),
                HumanBytes(cache.bytes)
            );
            let message = if schema < supported {
                format!("{message}; the next start migrates it to version {supported}")
            } else {
                message
            };
            (Finding::ok(DATABASE, message), Some(found))
        }
        Err(error) => {
            (Finding::problem(DATABASE, output::causes(&error)).advice(repair_advice(&error)), None)
        }
    }
}

/// Checks that the server of the database can be reached and has a schema that this program supports.
fn database_server(server: DatabaseServer) -> Finding {
    let DatabaseServer { url, client } = server;
    let location = url.location().display();
    match Store::inspect_server(&url, client) {
        Ok(ServerReport { schema: 0, .. }) => {
            Finding::ok(DATABASE, format!("{location} can be reached; the first start creates the tables"))
        }
        Ok(ServerReport { schema, supported }) if schema < supported => Finding::ok(
            DATABASE,
            format!("{location}, version {schema}; the next start migrates it to version {supported}"),
        ),
        Ok(ServerReport { schema, .. }) => Finding::ok(DATABASE, format!("{location}, version {schema}")),
        Err(error @ StoreError::UnfinishedMigration { .. }) => {
            Finding::problem(DATABASE, output::causes(&error))
                .advice("finish the migration, or set `store.url` to another database")
        }
        Err(error) => Finding::problem(DATABASE, output::causes(&error))
            .advice("check `store.url`, and that the server runs and accepts the user"),
    }
}

fn repair_advice(error: &StoreError) -> &'static str {
    match error {
        StoreError::NewerSchema { .. } => "run the newer websvc that wrote it, or use another data directory",
        StoreError::Corrupt { .. } => {
            "restore a backup of websvc.db, or move the file away to start without keys and cached pages"
        }
        StoreError::Busy { .. } => "wait for the other process, or stop it",
        StoreError::Full { .. } => "free space on the disk",
        _ => "let the user that runs websvc read and write the file",
    }
}

/// Evidence that an index should exist.
#[derive(Debug, Default)]
struct Expected {
    /// A process has opened the data directory to write an index.
    was_created: bool,
    /// Number of cached pages, which were indexed when they were cached. It is 0 if the index is not searched.
    pages: u64,
}

/// Number of cached pages from which an empty index indicates that it was replaced. Fewer pages may all have no text.
const MIN_CACHED_PAGES: u64 = 20;

/// Advice for a lost or damaged index.
const RESTORE_INDEX: &str = "restore the directory `index` from a backup (`websvc backup`), or crawl or import again; \
    until then searches do not find its documents";

/// Checks that the index exists, can be opened, and has the checksums that were written.
fn index(dir: &Path, expected: &Expected) -> Finding {
    // Opening an index creates missing files, and a check must not create any.
    if !dir.join("meta.json").exists() {
        let shown = dir.display();
        return match (dir.exists(), expected.was_created) {
            (false, false) => Finding::ok(INDEX, "none yet: the first start creates it"),
            (false, true) => {
                Finding::problem(INDEX, format!("{shown} existed and is missing")).advice(RESTORE_INDEX)
            }
            (true, _) => Finding::problem(INDEX, format!("{shown} is damaged: meta.json is missing"))
                .advice(RESTORE_INDEX),
        };
    }
    if !dir.join("images").join("meta.json").exists() {
        return Finding::warning(INDEX, "the index of images is missing").advice(
            "the next start creates an empty one; if images were indexed, restore a backup or crawl again",
        );
    }
    match open(dir) {
        Ok((stats, damaged)) if damaged.is_empty() => stats_finding(dir, &stats, expected),
        Ok((_, damaged)) => {
            let names: Vec<String> = damaged.iter().take(3).map(|path| path.display().to_string()).collect();
            let message = format!(
                "{} in {}: {}",
                counted(damaged.len(), "damaged file", "damaged files"),
                dir.display(),
                names.join(", ")
            );
            Finding::problem(INDEX, message).advice(RESTORE_INDEX)
        }
        Err(error) => {
            let advice = match &error {
                IndexError::Directory { .. } => "let the user that runs websvc read and write the directory",
                _ => "move the directory away and crawl or import again, or restore a backup",
            };
            Finding::problem(INDEX, output::causes(&error)).advice(advice)
        }
    }
}

/// Checks the private indexes of teams and returns the findings that are not ok.
fn faulty_team_indexes(dir: &Path) -> Vec<Finding> {
    let owners = match TeamIndexes::new(dir, IndexConfig::default(), false).owners() {
        Ok(owners) => owners,
        Err(error) => {
            let advice = "let the user that runs websvc read and write the directory";
            return vec![Finding::problem(INDEX, output::causes(&error)).advice(advice)];
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
        // A running service may merge and remove files meanwhile. A damaged file is still damaged the second time.
        Ok(_) | Err(_) => index.damaged_files()?,
    };
    Ok((index.stats()?, damaged))
}

fn stats_finding(dir: &Path, stats: &Stats, expected: &Expected) -> Finding {
    let format = std::fs::read_to_string(dir.join("format")).unwrap_or_default();
    let message = format!(
        "{}, {} in {}, format {}",
        counted(stats.documents, "document", "documents"),
        HumanBytes(stats.bytes),
        counted(stats.segments, "segment", "segments"),
        format.trim()
    );
    if stats.documents == 0 && expected.pages >= MIN_CACHED_PAGES {
        return Finding::warning(INDEX, format!(
                "{message}, but the cache has {} pages: the index may have been lost and replaced by a new one",
                expected.pages
            )).advice(RESTORE_INDEX);
    }
    Finding::ok(INDEX, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_is_compared_with_the_growth_of_the_cache() {
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
    fn checks_leave_no_files_and_create_no_directories() {
        let parent = tempfile::tempdir().unwrap();
        let is_empty = || std::fs::read_dir(parent.path()).unwrap().next().is_none();
        assert_eq!(directory(parent.path()).state, State::Ok);
        let finding = directory(&parent.path().join("not/yet"));
        assert!(finding.message.ends_with("the first start creates it"), "{finding:?}");
        assert_eq!(index(&parent.path().join(INDEX_DIR), &Expected::default()).state, State::Ok);
        assert_eq!(database(parent.path()).0.state, State::Ok);
        assert!(is_empty());
        std::fs::write(parent.path().join("file"), "").unwrap();
        assert_eq!(directory(&parent.path().join("file/data")).state, State::Problem);
    }

    #[test]
    fn index_of_another_format_is_a_problem() {
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
    fn lost_or_damaged_index_is_a_problem() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join(INDEX_DIR);
        let expected = Expected { was_created: true, pages: 0 };
        let lost = index(&dir, &expected);
        assert_eq!(lost.state, State::Problem, "{lost:?}");
        assert!(lost.message.ends_with("existed and is missing"), "{lost:?}");
        let index_writer = Index::open(&dir, IndexConfig::default()).unwrap();
        (0..50).try_for_each(|number| index_writer.add(document(number))).unwrap();
        index_writer.flush().unwrap();
        index_writer.close().unwrap();
        assert_eq!(index(&dir, &expected).state, State::Ok);
        let store = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let store = store
            .into_iter()
            .find(|path| path.extension().is_some_and(|extension| extension == "store"))
            .unwrap();
        let original = std::fs::read(&store).unwrap();
        let mut bytes = original.clone();
        let middle = bytes.len() / 3;
        bytes[middle] ^= 0xff;
        std::fs::write(&store, bytes).unwrap();
        let damaged = index(&dir, &expected);
        assert_eq!(damaged.state, State::Problem, "{damaged:?}");
        std::fs::remove_file(&store).unwrap();
        assert_eq!(index(&dir, &expected).state, State::Problem);
        std::fs::write(&store, original).unwrap();
        assert_eq!(index(&dir, &expected).state, State::Ok);
        std::fs::remove_file(dir.join("meta.json")).unwrap();
        let without_meta = index(&dir, &expected);
        assert_eq!(without_meta.state, State::Problem);
        assert!(without_meta.message.contains("meta.json"), "{without_meta:?}");
    }

    #[test]
    fn empty_index_with_a_full_cache_is_a_warning() {
        let parent = tempfile::tempdir().unwrap();
        drop(Index::open(parent.path(), IndexConfig::default()).unwrap());
        for (pages, state) in [(0, State::Ok), (5, State::Ok), (500, State::Warning)] {
            assert_eq!(index(parent.path(), &Expected { was_created: true, pages }).state, state, "{pages}");
        }
    }
}
