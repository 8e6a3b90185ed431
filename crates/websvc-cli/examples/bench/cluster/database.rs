//! The PostgreSQL server of the measurements.

use tokio::net::TcpStream;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// The environment variable with the URL of the server.
pub(super) const VARIABLE: &str = "WEBSVC_TEST_REPLICAS";

/// Returns the URL of the server.
pub(super) fn server() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|url| !url.is_empty())
}

/// A schema of the server.
pub(super) struct Schema {
    server: String,
    name: String,
    /// The URL that selects it.
    pub(super) url: String,
}

impl Schema {
    /// Creates a schema.
    pub(super) async fn create(server: &str) -> Self {
        let name = format!("bench_{}", uuid::Uuid::new_v4().simple());
        query(server, &format!("CREATE SCHEMA {name}")).await;
        Self { server: server.to_owned(), url: format!("{server}?options=-csearch_path%3D{name}"), name }
    }

    /// Returns the URL of the schema through another port.
    pub(super) fn url_at(&self, port: u16) -> String {
        self.url.replace(&address(&self.server), &format!("127.0.0.1:{port}"))
    }

    /// Returns the address of the server.
    pub(super) fn address(&self) -> String {
        address(&self.server)
    }

    /// Returns the number that a query returns.
    pub(super) async fn number(&self, sql: &str) -> i64 {
        let sql = format!("SET search_path TO {}; {sql}", self.name);
        query(&self.server, &sql).await.expect("the query returns a number").parse().unwrap()
    }
}

fn address(server: &str) -> String {
    let url: url::Url = server.parse().unwrap();
    format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432))
}

/// Executes statements, and returns the first value of the first row.
async fn query(server: &str, sql: &str) -> Option<String> {
    let config: tokio_postgres::Config = server.parse().unwrap();
    let stream = TcpStream::connect(address(server)).await.unwrap();
    let (client, connection) = config.connect_raw(stream, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let messages = client.simple_query(sql).await.unwrap();
    connection.abort();
    messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    })
}
