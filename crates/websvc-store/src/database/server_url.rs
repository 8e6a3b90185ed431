//! The URL of a PostgreSQL server.

use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::{Host as ServerHost, SslMode};
use url::Host;

/// The port of PostgreSQL.
const DEFAULT_PORT: u16 = 5432;

/// The URL of a PostgreSQL server: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`.
///
/// It may name several hosts, separated by commas, of which one is the primary. The parameters are those of libpq that
/// tokio-postgres knows, such as `options` and `application_name`. `sslmode` is `disable`, or `require`, `verify-ca` or
/// `verify-full`; the last three all verify the certificate and its host. Without it, connections to other machines are
/// encrypted.
#[derive(Clone)]
pub struct DatabaseUrl {
    pub(super) config: Config,
    hosts: Vec<(Host, u16)>,
    location: PathBuf,
}

/// The reason why a URL of a PostgreSQL server is not valid. It does not contain the URL, which may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDatabaseUrl {
    /// The scheme is another one.
    #[error("the URL must begin with postgres:// or postgresql://")]
    Scheme,
    /// It cannot be parsed, or has an unknown parameter.
    #[error("the URL is not valid: {0}")]
    Syntax(String),
    /// It names no host.
    #[error("the URL names no host: add one, such as postgres://USER@HOST:5432/DATABASE")]
    NoHost,
    /// It names a Unix socket or an invalid host.
    #[error("the host \"{0}\" of the URL is not a host name or IP address; Unix sockets are not supported")]
    Host(String),
    /// It names no database.
    #[error("the URL names no database: add its name, such as postgres://HOST/websvc")]
    NoDatabase,
    /// It names no user.
    #[error("the URL names no user: add one, such as postgres://USER@HOST/DATABASE")]
    NoUser,
    /// The TLS mode is unknown, or may fall back to a connection without TLS.
    #[error("the sslmode \"{0}\" is not supported: use require, verify-ca, verify-full or disable")]
    SslMode(String),
}

impl DatabaseUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// [`InvalidDatabaseUrl`].
    pub fn parse(url: &str) -> Result<Self, InvalidDatabaseUrl> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(InvalidDatabaseUrl::Scheme);
        }
        let (url, ssl_mode) = without_ssl_mode(url)?;
        let syntax = |error: tokio_postgres::Error| InvalidDatabaseUrl::Syntax(reason(&error));
        let mut config: Config = url.parse().map_err(syntax)?;
        let hosts = hosts(&config)?;
        let database = config.get_dbname().filter(|name| !name.is_empty());
        let database = database.ok_or(InvalidDatabaseUrl::NoDatabase)?.to_owned();
        if config.get_user().is_none_or(str::is_empty) {
            return Err(InvalidDatabaseUrl::NoUser);
        }
        let is_local = hosts.iter().all(|(host, _)| is_loopback(host));
        let default_mode = if is_local { SslMode::Disable } else { SslMode::Require };
        config.ssl_mode(ssl_mode.unwrap_or(default_mode));
        if config.get_application_name().is_none() {
            config.application_name("websvc");
        }
        let names: Vec<String> = hosts.iter().map(|(host, port)| format!("{host}:{port}")).collect();
        let location = PathBuf::from(format!("postgres://{}/{database}", names.join(",")));
        Ok(Self { config, hosts, location })
    }

    /// Returns the hosts and ports of the servers.
    #[must_use]
    pub fn hosts(&self) -> &[(Host, u16)] {
        &self.hosts
    }

    /// Returns the URL without credentials and parameters, for messages.
    #[must_use]
    pub fn location(&self) -> &Path {
        &self.location
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DatabaseUrl").field(&self.location).finish()
    }
}

/// Returns the URL without its parameter `sslmode`, some of whose values tokio-postgres does not know, and that
/// parameter.
fn without_ssl_mode(url: &str) -> Result<(String, Option<SslMode>), InvalidDatabaseUrl> {
    let Some((base, query)) = url.split_once('?') else { return Ok((url.to_owned(), None)) };
    let mut mode = None;
    let mut others = Vec::new();
    for parameter in query.split('&') {
        match parameter.strip_prefix("sslmode=") {
            None => others.push(parameter),
            Some("disable") => mode = Some(SslMode::Disable),
            Some("require" | "verify-ca" | "verify-full") => mode = Some(SslMode::Require),
            Some(other) => return Err(InvalidDatabaseUrl::SslMode(other.to_owned())),
        }
    }
    Ok((format!("{base}?{}", others.join("&")), mode))
}

fn hosts(config: &Config) -> Result<Vec<(Host, u16)>, InvalidDatabaseUrl> {
    let ports = config.get_ports();
    let mut hosts = Vec::new();
    for (index, host) in config.get_hosts().iter().enumerate() {
        let name = match host {
            ServerHost::Tcp(name) => name,
            #[cfg(unix)]
            ServerHost::Unix(path) => return Err(InvalidDatabaseUrl::Host(path.display().to_string())),
        };
        // One port may be that of all hosts.
        let port = ports.get(index).or_else(|| ports.first().filter(|_| ports.len() == 1));
        hosts.push((parse_host(name)?, port.copied().unwrap_or(DEFAULT_PORT)));
    }
    if hosts.is_empty() { Err(InvalidDatabaseUrl::NoHost) } else { Ok(hosts) }
}

fn parse_host(name: &str) -> Result<Host, InvalidDatabaseUrl> {
    let bracketed = if name.contains(':') { format!("[{name}]") } else { name.to_owned() };
    Host::parse(&bracketed).map_err(|_| InvalidDatabaseUrl::Host(name.to_owned()))
}

fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

fn reason(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;

    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> (String, SslMode) {
        let url = DatabaseUrl::parse(url).unwrap();
        (url.location().display().to_string(), url.config.get_ssl_mode())
    }

    #[test]
    fn location_contains_no_credentials() {
        for (url, location, mode) in [
            ("postgres://me:secret@127.0.0.1/websvc", "postgres://127.0.0.1:5432/websvc", SslMode::Disable),
            ("postgresql://me@[::1]:6000/w?sslmode=require", "postgres://[::1]:6000/w", SslMode::Require),
            ("postgres://me@localhost/w?application_name=x", "postgres://localhost:5432/w", SslMode::Disable),
            ("postgres://me@db.test/w", "postgres://db.test:5432/w", SslMode::Require),
            ("postgres://me@db.test/w?sslmode=disable", "postgres://db.test:5432/w", SslMode::Disable),
            (
                "postgres://me:p%40ss@a.test:1,b.test:2/w?sslmode=verify-full&options=-csearch_path%3Dx",
                "postgres://a.test:1,b.test:2/w",
                SslMode::Require,
            ),
        ] {
            assert_eq!(parsed(url), (location.to_owned(), mode), "{url}");
            let debug = format!("{:?}", DatabaseUrl::parse(url).unwrap());
            assert!(!debug.contains("secret") && !debug.contains("p@ss"), "{debug}");
        }
    }

    #[test]
    fn invalid_urls_are_rejected_with_their_rule() {
        for (url, expected) in [
            ("mysql://db/w", "the URL must begin with postgres:// or postgresql://"),
            ("postgres://me@/w", "the URL names no host"),
            ("postgres://me@db.test", "the URL names no database"),
            ("postgres://db.test/w", "the URL names no user"),
            ("postgres://me@db.test/w?sslmode=prefer", "the sslmode \"prefer\" is not supported"),
            ("postgres://me@db.test/w?color=red", "the URL is not valid"),
            ("postgres://me@%2Frun%2Fpostgresql/w", "Unix sockets are not supported"),
        ] {
            let error = DatabaseUrl::parse(url).unwrap_err().to_string();
            assert!(error.contains(expected), "{url}: {error}");
        }
    }
}
