//! Everything that a service writes and shows, as locations that could contain data of a request.

use std::fs;
use std::path::{Path, PathBuf};

use http::Method;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::marker::Marker;
use crate::harness::{Service, Site};

/// The magic number of zstd frames.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Paths whose content is public or visible to administrators.
const PATHS: [&str; 11] = [
    "/ready",
    "/dashboard/requests?limit=1000",
    "/dashboard/usage?days=10",
    "/dashboard/teams",
    "/dashboard/system",
    "/v2/index/stats",
    "/v2/team/queue-status",
    "/v2/team/credit-usage/historical?byApiKey=true",
    "/v2/concurrency-check",
    "/v2/team/activity?limit=100",
    "/dashboard/feedback",
];

/// The name of each location, and its bytes.
pub(super) struct StoredData(Vec<(String, Vec<u8>)>);

impl StoredData {
    /// Reads every file, every value of the database and every document of the index.
    pub(super) fn on_disk(site: &Site, scratch: &Path, log: &Path) -> Self {
        let mut all = Vec::new();
        for directory in [site.data_dir(), scratch] {
            for path in files(directory) {
                let name = path.strip_prefix(directory).unwrap().display().to_string();
                // A temporary file may be gone.
                all.extend(
                    fs::read(&path).ok().map(|bytes| (name.clone(), [name.into_bytes(), bytes].concat())),
                );
            }
        }
        all.push(("the log".to_owned(), fs::read(log).unwrap()));
        all.extend(values(&site.data_dir().join("websvc.db")));
        let exported = tempfile::tempdir().unwrap();
        let file = exported.path().join("all.jsonl");
        site.succeed(&["index", "export", file.to_str().unwrap()]);
        all.push(("the documents of the index".to_owned(), fs::read(file).unwrap()));
        all.push(("the command usage".to_owned(), site.succeed(&["usage", "--json"]).into_bytes()));
        Self(all)
    }

    /// Reads the data on disk, and everything that a running service shows.
    pub(super) async fn of_running(
        service: &Service,
        admin: &str,
        site: &Site,
        scratch: &Path,
        log: &Path,
    ) -> Self {
        let mut all = Self::on_disk(site, scratch, log);
        all.0.push(("/metrics".to_owned(), service.text("/metrics").await.into_bytes()));
        for path in PATHS {
            let headers = [("authorization", &format!("Bearer {admin}")[..])];
            let response = service.send(Method::GET, path, &headers, String::new()).await;
            assert_eq!(response.status, 200, "{path}: {}", response.body);
            all.0.push((path.to_owned(), response.body.to_string().into_bytes()));
        }
        all
    }

    /// Returns the locations that contain the marker, each with the match.
    pub(super) fn traces(&self, marker: &Marker) -> Vec<String> {
        let trace = |(name, bytes): &(String, Vec<u8>)| Some(format!("{name}: {}", marker.trace(bytes)?));
        self.0.iter().filter_map(trace).collect()
    }

    /// Returns the locations whose names start with `prefix` and that contain a text.
    pub(super) fn with(&self, prefix: &str, text: &str) -> Vec<&str> {
        let marker = Marker::from_word(text);
        let locations = self.0.iter().filter(|(name, _)| name.starts_with(prefix));
        locations.filter(|(_, bytes)| marker.trace(bytes).is_some()).map(|(name, _)| name.as_str()).collect()
    }

    /// Removes the locations whose names start with one of `prefixes`.
    pub(super) fn without(mut self, prefixes: &[&str]) -> Self {
        self.0.retain(|(name, _)| !prefixes.iter().any(|prefix| name.starts_with(prefix)));
        self
    }

    /// Returns the names of the locations that start with `prefix`.
    pub(super) fn named(&self, prefix: &str) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with(prefix)).collect()
    }
}

/// Returns the files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path()),
            Ok(kind) if kind.is_file() => vec![entry.path()],
            // Sockets and links contain no data.
            _ => Vec::new(),
        })
        .collect()
}

/// Returns the rows of every table, one location per table. Compressed values are decompressed.
fn values(database: &Path) -> Vec<(String, Vec<u8>)> {
    let sqlite = Connection::open(database).unwrap();
    let mut tables = sqlite.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(tables.iter().any(|table| table == "usage_log"), "{tables:?}");
    tables.into_iter().map(|table| (format!("table {table}"), rows(&sqlite, &table))).collect()
}

fn rows(sqlite: &Connection, table: &str) -> Vec<u8> {
    let mut select = sqlite.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns = select.column_count();
    let mut rows = select.query([]).unwrap();
    let mut all = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            match row.get_ref(column).unwrap() {
                ValueRef::Text(bytes) => all.extend_from_slice(bytes),
                ValueRef::Blob(bytes) if bytes.starts_with(ZSTD) => {
                    all.extend(zstd::decode_all(bytes).unwrap());
                }
                ValueRef::Blob(bytes) => all.extend_from_slice(bytes),
                ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => {}
            }
            all.push(b'\n');
        }
    }
    all
}
