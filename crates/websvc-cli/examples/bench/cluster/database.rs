//! The PostgreSQL server of the measurements.

use tokio::net::TcpStream;
use tokio_postgres::NoTls;

/// The environment variable with the URL of the server.
pub(super) const VARIABLE: &str = "WEBSVC_TEST_REPLICAS";

/// Returns the URL of the server.
pub(super) fn server() -> Option<String> {
    std::env::var(VARIABLE).ok().filter(|url| !url.is_empty())
}

/// A schema of the server.
pub(super) struct Schema {
    /// The URL that selects it.
    pub(super) url: String,
}

impl Schema {
    /// Creates a schema.
    pub(super) async fn create(server: &str) -> Self {
        let name = format!("bench_{}", uuid::Uuid::new_v4().simple());
        let config: tokio_postgres::Config = server.parse().unwrap();
        let url: url::Url = server.parse().unwrap();
        let address = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
        let stream = TcpStream::connect(address).await.unwrap();
        let (client, connection) = config.connect_raw(stream, NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.simple_query(&format!("CREATE SCHEMA {name}")).await.unwrap();
        connection.abort();
        Self { url: format!("{server}?options=-csearch_path%3D{name}") }
    }
}
