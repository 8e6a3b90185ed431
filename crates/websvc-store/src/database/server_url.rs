//! The URL of a PostgreSQL server.

use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::{Host as ServerHost, SslMode};
use url::Host;

use crate::sql::postgres::SessionScope;

/// The port of PostgreSQL.
const DEFAULT_PORT: u16 = 5432;

/// The URL of a PostgreSQL server: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`.
///
/// It may name several hosts, separated by commas, of which one is the primary. The parameters are those of libpq that
/// tokio-postgres knows, such as `options` and `application_name`. `sslmode` is `disable`, or `require`, `verify-ca` or
/// `verify-full`; the last three all verify the certificate and its host. Without it, connections to other machines are
/// encrypted. `pgbouncer=true` says that a pooler gives each transaction another session of the server.
#[derive(Clone)]
pub struct DatabaseUrl {
    pub(super) config: Config,
    scope: SessionScope,
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
    /// The parameter `pgbouncer` is neither true nor false.
    #[error("the parameter pgbouncer={0} is not valid: use pgbouncer=true or pgbouncer=false")]
    PgBouncer(String),
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
        let (url, OwnParameters { ssl_mode, scope }) = OwnParameters::take_from(url)?;
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
        Ok(Self { config, scope, hosts, location })
    }

    /// Returns the time for which the server keeps a session for this client.
    pub(crate) fn scope(&self) -> SessionScope {
        self.scope
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

/// The parameters that tokio-postgres does not know, or does not know all values of.
struct OwnParameters {
    ssl_mode: Option<SslMode>,
    scope: SessionScope,
}

impl OwnParameters {
    /// Returns the URL without these parameters, and the parameters.
    fn take_from(url: &str) -> Result<(String, Self), InvalidDatabaseUrl> {
        let mut own = Self { ssl_mode: None, scope: SessionScope::Connection };
        let Some((base, query)) = url.split_once('?') else { return Ok((url.to_owned(), own)) };
        let mut others = Vec::new();
        for parameter in query.split('&') {
            match parameter.split_once('=') {
                Some(("sslmode", "disable")) => own.ssl_mode = Some(SslMode::Disable),
                Some(("sslmode", "require" | "verify-ca" | "verify-full")) => {
                    own.ssl_mode = Some(SslMode::Require);
                }
                Some(("sslmode", other)) => return Err(InvalidDatabaseUrl::SslMode(other.to_owned())),
                Some(("pgbouncer", "true")) => own.scope = SessionScope::Transaction,
                Some(("pgbouncer", "false")) => own.scope = SessionScope::Connection,
                Some(("pgbouncer", other)) => return Err(InvalidDatabaseUrl::PgBouncer(other.to_owned())),
                _ => others.push(parameter),
            }
        }
        Ok((format!("{base}?{}", others.join("&")), own))
    }
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
            ("postgres://me@db.test/w?pgbouncer=1", "the parameter pgbouncer=1 is not valid"),
            ("postgres://me@db.test/w?color=red", "the URL is not valid"),
            ("postgres://me@%2Frun%2Fpostgresql/w", "Unix sockets are not supported"),
        ] {
            let error = DatabaseUrl::parse(url).unwrap_err().to_string();
            assert!(error.contains(expected), "{url}: {error}");
        }
    }
}
