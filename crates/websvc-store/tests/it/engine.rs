//! The engine under test: SQLite, or the PostgreSQL server that the environment variable `WEBSVC_TEST_POSTGRES` names.
//!
//! Tests open stores by directory. On a server each directory has a schema of its own, whose name is in a file in it.
//! If `WEBSVC_TEST_PGBOUNCER` names the address of a PgBouncer in front of that server, stores connect through it.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};
use websvc_store::{DatabaseUrl, StaticKeys, Store};
use websvc_transport::{AddressGuard, ClientConfig};

const VARIABLE: &str = "WEBSVC_TEST_POSTGRES";
const POOLER_VARIABLE: &str = "WEBSVC_TEST_PGBOUNCER";
const SCHEMA_FILE: &str = "test-schema";

/// Returns whether the tests run on a server.
pub(crate) fn is_server() -> bool {
    server_url().is_some()
}

fn server_url() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|url| !url.is_empty())
}

/// Opens the store of a directory.
pub(crate) fn open(dir: impl AsRef<Path>) -> Store {
    let dir = dir.as_ref();
    let Some(url) = url_of(dir) else { return Store::open(dir).unwrap() };
    Store::connect(&url, client(&url), dir).unwrap()
}

/// Returns the URL of a directory's database, if the tests run on a server.
pub(crate) fn url_of(dir: &Path) -> Option<DatabaseUrl> {
    let url = server_url()?;
    let schema = schema_of(dir, &url);
    let Some(address) = pooler() else { return direct_url_of(dir) };
    // The pooler does not forward options, so the schema is that of the user.
    let url = format!("postgres://{schema}@{address}/postgres?pgbouncer=true");
    Some(DatabaseUrl::parse(&url).unwrap())
}

/// Returns the URL of a directory's database without a pooler, if the tests run on a server.
pub(crate) fn direct_url_of(dir: &Path) -> Option<DatabaseUrl> {
    let url = server_url()?;
    let schema = schema_of(dir, &url);
    Some(DatabaseUrl::parse(&format!("{url}?options=-csearch_path%3D{schema}")).unwrap())
}

/// Returns the address of the pooler, if stores connect through one.
fn pooler() -> Option<String> {
    std::env::var(POOLER_VARIABLE).ok().filter(|address| !address.is_empty())
}

/// Returns an ordinary key from the configuration.
pub(crate) fn static_key(secret: &str) -> StaticKeys {
    let mut keys = StaticKeys::default();
    keys.set_key(secret).unwrap();
    keys
}

/// Opens a store in a new directory.
pub(crate) fn fresh() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    (dir, store)
}

/// Opens a SQLite file in a new directory, on any engine.
pub(crate) fn fresh_file() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    (dir, store)
}

/// Returns a client that may connect to the server.
pub(crate) fn client(url: &DatabaseUrl) -> websvc_transport::Client {
    let mut guard = AddressGuard::public();
    for (host, port) in url.hosts() {
        let address = format!("{host}:{port}");
        guard = guard.connect_to(&address, &address).unwrap();
    }
    websvc_transport::Client::new(ClientConfig::new(guard)).unwrap()
}

/// Returns the schema of a directory, and creates both if they do not exist.
fn schema_of(dir: &Path, url: &str) -> String {
    fs::create_dir_all(dir).unwrap();
    let file = dir.join(SCHEMA_FILE);
    let mut random = [0; 8];
    getrandom::fill(&mut random).unwrap();
    let new = format!("test_{:016x}", u64::from_be_bytes(random));
    // Another thread or process may open the same directory: the first one chooses the name.
    let draft = dir.join(&new);
    fs::write(&draft, &new).unwrap();
    let is_first = fs::hard_link(&draft, &file).is_ok();
    fs::remove_file(&draft).unwrap();
    let schema = fs::read_to_string(&file).unwrap();
    if is_first {
        let session = Session::connect(url);
        if pooler().is_some() {
            session.rows(&format!(
                "CREATE ROLE {schema} SUPERUSER LOGIN; ALTER ROLE {schema} SET search_path TO {schema}"
            ));
        }
        session.rows(&format!("CREATE SCHEMA IF NOT EXISTS {schema}"));
    }
    // The first one may not have created it yet.
    while Session::connect(url)
        .rows(&format!("SELECT 1 FROM pg_namespace WHERE nspname = '{schema}'"))
        .is_empty()
    {
        std::thread::yield_now();
    }
    schema
}

/// The database of a directory, without the store.
pub(crate) enum Rows {
    File(rusqlite::Connection),
    Server(Session),
}

impl Rows {
    pub(crate) fn open(dir: &Path) -> Self {
        let Some(url) = server_url() else {
            return Self::File(rusqlite::Connection::open(dir.join(Store::FILE_NAME)).unwrap());
        };
        let session = Session::connect(&url);
        session.rows(&format!("SET search_path TO {}", schema_of(dir, &url)));
        Self::Server(session)
    }

    /// Executes statements, separated by semicolons.
    pub(crate) fn execute(&self, sql: &str) {
        match self {
            Self::File(file) => file.execute_batch(sql).unwrap(),
            Self::Server(session) => drop(session.rows(sql)),
        }
    }

    /// Returns the rows of a query, with all values as texts.
    pub(crate) fn query(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        match self {
            Self::File(file) => {
                let mut statement = file.prepare(sql).unwrap();
                let columns = statement.column_count();
                let texts = statement.query_map([], |row| (0..columns).map(|at| text(row, at)).collect());
                texts.unwrap().collect::<Result<_, _>>().unwrap()
            }
            Self::Server(session) => session.rows(sql),
        }
    }

    /// Returns the first value of a query, which is a number.
    pub(crate) fn number(&self, sql: &str) -> u64 {
        self.text(sql).parse().unwrap()
    }

    /// Returns the first value of a query.
    pub(crate) fn text(&self, sql: &str) -> String {
        self.query(sql)[0][0].clone().unwrap()
    }
}

fn text(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    use rusqlite::types::Value;

    Ok(match row.get(column)? {
        Value::Null => None,
        Value::Integer(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Text(text) => Some(text),
        Value::Blob(bytes) => Some(format!("{bytes:?}")),
    })
}

/// A session with the server.
pub(crate) struct Session {
    runtime: Runtime,
    client: Client,
}

impl Session {
    fn connect(url: &str) -> Self {
        let config: tokio_postgres::Config = url.parse().unwrap();
        let parsed = DatabaseUrl::parse(url).unwrap();
        let (host, port) = parsed.hosts()[0].clone();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let stream = TcpStream::connect(format!("{host}:{port}")).await.unwrap();
            let (client, connection) = config.connect_raw(stream, NoTls).await.unwrap();
            drop(tokio::spawn(connection));
            client
        });
        Self { runtime, client }
    }

    fn rows(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let messages = self.runtime.block_on(self.client.simple_query(sql)).unwrap();
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
            }
            _ => None,
        });
        rows.collect()
    }
}
