//! Check of authentication: a reachable service requires a key.

use websvc_store::DatabaseReport;

use super::finding::Finding;
use crate::args::{Common, KEY_VARIABLE, variable};
use crate::config::Config;

const CHECK: &str = "keys";

/// Checks that requests need a key, and that there is a valid one.
pub(super) fn keys(common: &Common, config: &Config, store: Option<&DatabaseReport>) -> Finding {
    let keys = KeyCheck {
        required: config.auth.required,
        in_environment: variable(KEY_VARIABLE).is_some(),
        stored: store.map_or(0, |store| store.keys),
        revoked: store.map_or(0, |store| store.revoked_keys),
        database: match store {
            _ if config.store.url.is_some() => KeyDatabase::Server,
            None => KeyDatabase::Missing,
            Some(_) => KeyDatabase::File,
        },
    };
    keys.finding(common, is_loopback(&config.server.listen), config.server.tls.is_some())
}

/// The keys that authenticate requests.
struct KeyCheck {
    required: bool,
    in_environment: bool,
    /// Number of valid keys in the database.
    stored: u64,
    revoked: u64,
    database: KeyDatabase,
}

/// The database of the stored keys.
#[derive(Clone, Copy)]
enum KeyDatabase {
    /// There is none yet, so the service has never run with this data directory.
    Missing,
    File,
    /// Its keys are not counted.
    Server,
}

impl KeyCheck {
    fn finding(&self, common: &Common, is_loopback: bool, has_tls: bool) -> Finding {
        let Self { required, in_environment, stored, revoked, database } = *self;
        if !required {
            if is_loopback {
                return Finding::ok(CHECK, "none required, which is allowed on a loopback address");
            }
            return Finding::problem(CHECK, "none required, but the address is not loopback")
                .advice("set `auth.required = true`; otherwise `serve` starts only with --insecure");
        }
        let message = match (in_environment, stored) {
            (true, 0) if matches!(database, KeyDatabase::Server) => {
                format!("{KEY_VARIABLE}, and those stored on the database server, which were not counted")
            }
            (true, 0) => KEY_VARIABLE.to_owned(),
            (true, stored) => format!("{KEY_VARIABLE}, and {stored} stored"),
            (false, 0) if revoked > 0 => {
                return Finding::problem(CHECK, format!(
                        "all stored keys are revoked and {KEY_VARIABLE} is not set: every request will get 401"
                    )).advice(format!("create a key: {}", common.command("keys create --team default")));
            }
            (false, 0) => match database {
                KeyDatabase::Missing => {
                    "none yet: the first start creates one for team default and prints it".to_owned()
                }
                KeyDatabase::File => format!(
                    "none stored; a running service may have one in {KEY_VARIABLE} of its own environment, otherwise \
                     its next start creates one for team default and prints it"
                ),
                KeyDatabase::Server => {
                    "those stored on the database server, which were not counted".to_owned()
                }
            },
            (false, stored) => format!("{stored} stored"),
        };
        if is_loopback || has_tls {
            return Finding::ok(CHECK, message);
        }
        Finding::warning(CHECK, format!("{message}; keys are sent over the network unencrypted")).advice(
            "set `[server.tls] cert` and `key`, or listen on loopback behind a reverse proxy with TLS",
        )
    }
}

/// Returns `true` if an address is loopback. A host name other than `localhost` may resolve to any address.
pub(super) fn is_loopback(listen: &str) -> bool {
    let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: std::net::IpAddr| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::super::finding::State::{Ok, Problem, Warning};
    use super::*;

    #[test]
    fn missing_authentication_or_keys_are_problems() {
        for (required, in_environment, stored, revoked, loopback, tls, expected) in [
            (true, false, 0, 0, true, false, Ok),
            (true, false, 1, 3, true, false, Ok),
            (true, false, 1, 0, false, true, Ok),
            (true, false, 1, 0, false, false, Warning),
            (true, true, 0, 0, false, true, Ok),
            (true, true, 0, 1, false, true, Ok),
            (true, false, 0, 1, true, false, Problem),
            (true, false, 0, 1, false, true, Problem),
            (false, false, 0, 0, true, false, Ok),
            (false, true, 1, 0, false, true, Problem),
        ] {
            let check = KeyCheck { required, in_environment, stored, revoked, database: KeyDatabase::File };
            let finding = check.finding(&Common::default(), loopback, tls);
            assert_eq!(finding.state, expected, "{finding:?}");
        }
    }

    #[test]
    fn keys_that_this_process_cannot_see_are_not_said_to_be_missing() {
        for (database, in_environment, expected) in [
            (KeyDatabase::Missing, false, "none yet: the first start creates one"),
            (
                KeyDatabase::File,
                false,
                "none stored; a running service may have one in WEBSVC_API_KEY of its own",
            ),
            (KeyDatabase::Server, false, "those stored on the database server, which were not counted"),
            (KeyDatabase::Server, true, "WEBSVC_API_KEY, and those stored on the database server"),
            (KeyDatabase::File, true, "WEBSVC_API_KEY"),
        ] {
            let check = KeyCheck { required: true, in_environment, stored: 0, revoked: 0, database };
            let finding = check.finding(&Common::default(), true, false);
            assert!(finding.message.starts_with(expected), "{finding:?}");
        }
    }

    #[test]
    fn is_loopback_detects_loopback_addresses() {
        for (listen, expected) in [
            ("127.0.0.1:3002", true),
            ("127.8.0.1:0", true),
            ("[::1]:3002", true),
            ("localhost:3002", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:3002", false),
            ("[::]:3002", false),
            ("10.0.0.1:80", false),
            ("websvc.test:80", false),
        ] {
            assert_eq!(is_loopback(listen), expected, "{listen}");
        }
    }
}
