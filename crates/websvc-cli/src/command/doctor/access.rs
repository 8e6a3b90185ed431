//! Check of authentication: reachable services need a key.

use websvc_store::DatabaseReport;

use super::finding::Finding;
use crate::args::{Common, KEY_VARIABLE, variable};
use crate::config::Config;

const CHECK: &str = "keys";

/// Checks that the door is neither open nor without a key to it.
pub(super) fn keys(common: &Common, config: &Config, store: Option<&DatabaseReport>) -> Finding {
    let keys = KeyCheck {
        required: config.auth.required,
        in_environment: variable(KEY_VARIABLE).is_some(),
        stored: store.map_or(0, |store| store.keys),
        revoked: store.map_or(0, |store| store.revoked_keys),
    };
    keys.judge(common, is_loopback(&config.server.listen), config.server.tls.is_some())
}

/// Keys that authenticate requests.
struct KeyCheck {
    required: bool,
    in_environment: bool,
    /// The valid keys of the database.
    stored: u64,
    revoked: u64,
}

impl KeyCheck {
    fn judge(&self, common: &Common, is_loopback: bool, has_tls: bool) -> Finding {
        let Self { required, in_environment, stored, revoked } = *self;
        if !required {
            if is_loopback {
                return Finding::ok(CHECK, "none is asked for, which a loopback address allows");
            }
            return Finding::problem(
                CHECK,
                "none is asked for, and others can reach the address",
                "set `auth.required = true`; `serve` starts only with --insecure otherwise",
            );
        }
        let held = match (in_environment, stored) {
            (true, 0) => KEY_VARIABLE.to_owned(),
            (true, stored) => format!("{KEY_VARIABLE}, and {stored} stored"),
            (false, 0) if revoked > 0 => {
                return Finding::problem(
                    CHECK,
                    format!("every stored key is revoked, and {KEY_VARIABLE} is not set: nobody gets in"),
                    format!("make one: {}", common.command("keys create --team default")),
                );
            }
            (false, 0) => "none yet: the first start makes one for team default and prints it".to_owned(),
            (false, stored) => format!("{stored} stored"),
        };
        if is_loopback || has_tls {
            return Finding::ok(CHECK, held);
        }
        Finding::warning(
            CHECK,
            format!("{held}; they cross the network unencrypted"),
            "set `[server.tls] cert` and `key`, or let a reverse proxy with TLS ask a loopback address",
        )
    }
}

/// Tells whether only this machine reaches an address; a name other than `localhost` may be anything.
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
    fn a_door_is_neither_open_nor_without_a_key() {
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
            let finding = KeyCheck { required, in_environment, stored, revoked }.judge(
                &Common::default(),
                loopback,
                tls,
            );
            assert_eq!(finding.state, expected, "{finding:?}");
        }
    }

    #[test]
    fn loopback_is_told_from_the_rest() {
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
