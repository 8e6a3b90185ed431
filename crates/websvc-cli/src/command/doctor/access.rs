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
}

impl KeyCheck {
    fn finding(&self, common: &Common, is_loopback: bool, has_tls: bool) -> Finding {
        let Self { required, in_environment, stored, revoked } = *self;
        if !required {
            if is_loopback {
                return Finding::ok(CHECK, "none required, which is allowed on a loopback address");
            }
            return Finding::problem(
                CHECK,
                "none required, but the address is not loopback",
                "set `auth.required = true`; otherwise `serve` starts only with --insecure",
            );
        }
        let message = match (in_environment, stored) {
            (true, 0) => KEY_VARIABLE.to_owned(),
            (true, stored) => format!("{KEY_VARIABLE}, and {stored} stored"),
            (false, 0) if revoked > 0 => {
                return Finding::problem(
                    CHECK,
                    format!(
                        "all stored keys are revoked and {KEY_VARIABLE} is not set: every request will get 401"
                    ),
                    format!("create a key: {}", common.command("keys create --team default")),
                );
            }
            (false, 0) => "none yet: the first start creates one for team default and prints it".to_owned(),
            (false, stored) => format!("{stored} stored"),
        };
        if is_loopback || has_tls {
            return Finding::ok(CHECK, message);
        }
        Finding::warning(
            CHECK,
            format!("{message}; keys are sent over the network unencrypted"),
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
            let finding = KeyCheck { required, in_environment, stored, revoked }.finding(
                &Common::default(),
                loopback,
                tls,
            );
            assert_eq!(finding.state, expected, "{finding:?}");
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
