//! The mail server, and how to reach it.

use std::fmt;
use std::time::Duration;

use url::Host;

use crate::address::Mailbox;

/// Port for the submission of mail with TLS from the start (RFC 8314).
const IMPLICIT_TLS_PORT: u16 = 465;
/// Limits of the time for one delivery.
const MIN_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_TIMEOUT: Duration = Duration::from_secs(600);

/// The mail server that messages are submitted to.
#[derive(Debug, Clone)]
pub struct MailConfig {
    /// The server.
    pub host: Host,
    /// The port, usually 587 or 465.
    pub port: u16,
    /// How connections are encrypted.
    pub tls: MailTls,
    /// User name, together with `password`.
    pub user: Option<String>,
    /// Password, together with `user`.
    pub password: Option<MailPassword>,
    /// Sender of all messages.
    pub from: Mailbox,
    /// Maximum time for one delivery, from 1 s to 10 min: connecting, TLS, authentication and the message.
    pub timeout: Duration,
}

/// Encryption of connections to a mail server. There is no mode that falls back to an unencrypted connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailTls {
    /// No encryption. Then a password is sent to this machine only.
    None,
    /// The connection begins without TLS and must offer `STARTTLS` (RFC 3207).
    StartTls,
    /// The connection begins with TLS (RFC 8314).
    Implicit,
}

impl MailTls {
    /// Returns the encryption that a server with this port expects, for a configuration that names none.
    #[must_use]
    pub fn for_port(port: u16) -> Self {
        if port == IMPLICIT_TLS_PORT { Self::Implicit } else { Self::StartTls }
    }
}

/// The password for a mail server, which `Debug` does not print.
#[derive(Clone)]
pub struct MailPassword(String);

impl MailPassword {
    /// Wraps a password.
    #[must_use]
    pub fn new(password: String) -> Self {
        Self(password)
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for MailPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MailPassword(..)")
    }
}

/// Error of a configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailConfigError {
    /// The password would be sent to another machine without encryption.
    #[error(
        "a password for {host} needs TLS: without encryption it is sent to a loopback address or localhost only"
    )]
    PasswordWithoutTls {
        /// The mail server.
        host: String,
    },
    /// Only one of the user name and the password is set.
    #[error("a user name needs a password, and a password needs a user name: {missing} is missing")]
    IncompleteLogin {
        /// The one that is not set.
        missing: &'static str,
    },
    /// The user name or the password has a character that cannot be sent.
    #[error("the user name and the password must not be empty or contain a null character")]
    InvalidLogin,
    /// The time for a delivery is out of its limits.
    #[error("a timeout of {} s is not between 1 and 600 s", timeout.as_secs_f64())]
    Timeout {
        /// The time.
        timeout: Duration,
    },
    /// The port is 0.
    #[error("0 is not a port of a mail server")]
    Port,
}

/// User name and password of a checked configuration.
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: MailPassword,
}

impl MailConfig {
    /// Checks the rules that concern several settings, and returns the user name and the password.
    pub(super) fn check(&self) -> Result<Option<Login>, MailConfigError> {
        let Self { host, port, tls, user, password, from: _, timeout } = self;
        if *port == 0 {
            return Err(MailConfigError::Port);
        }
        if !(MIN_TIMEOUT..=MAX_TIMEOUT).contains(timeout) {
            return Err(MailConfigError::Timeout { timeout: *timeout });
        }
        let login = match (user, password) {
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(MailConfigError::IncompleteLogin { missing: "the password" }),
            (None, Some(_)) => return Err(MailConfigError::IncompleteLogin { missing: "the user name" }),
            (Some(user), Some(password)) => Login { user: user.clone(), password: password.clone() },
        };
        // A null character separates them (RFC 4616).
        let is_valid = |text: &str| !text.is_empty() && !text.contains('\0');
        if !is_valid(&login.user) || !is_valid(login.password.expose()) {
            return Err(MailConfigError::InvalidLogin);
        }
        if *tls == MailTls::None && !is_loopback(host) {
            return Err(MailConfigError::PasswordWithoutTls { host: host.to_string() });
        }
        Ok(Some(login))
    }

    /// Returns the server as `host:port`.
    pub(super) fn server(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Domain(name) => name.eq_ignore_ascii_case("localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(host: &str) -> MailConfig {
        MailConfig {
            host: Host::parse(host).unwrap(),
            port: 587,
            tls: MailTls::None,
            user: Some("ada".to_owned()),
            password: Some(MailPassword::new("secret-password".to_owned())),
            from: Mailbox::parse("websvc <alerts@example.com>").unwrap(),
            timeout: Duration::from_secs(30),
        }
    }

    #[test]
    fn password_needs_tls_except_on_loopback() {
        for host in ["127.0.0.1", "127.9.9.9", "[::1]", "localhost"] {
            assert!(config(host).check().is_ok(), "{host}");
        }
        for host in ["10.0.0.1", "mail.example.com", "localhost.example.com", "[::]"] {
            let refused = MailConfigError::PasswordWithoutTls { host: host.to_owned() };
            assert_eq!(config(host).check().err(), Some(refused));
            for tls in [MailTls::StartTls, MailTls::Implicit] {
                assert!(MailConfig { tls, ..config(host) }.check().is_ok(), "{host}");
            }
            let without = MailConfig { user: None, password: None, ..config(host) };
            assert!(without.check().unwrap().is_none());
        }
    }

    #[test]
    fn incomplete_and_invalid_settings_are_rejected() {
        let valid = config("localhost");
        let check = |config: MailConfig| config.check().err().unwrap().to_string();
        assert!(check(MailConfig { password: None, ..valid.clone() }).ends_with("the password is missing"));
        assert!(check(MailConfig { user: None, ..valid.clone() }).ends_with("the user name is missing"));
        let null = Some("a\0b".to_owned());
        assert!(check(MailConfig { user: null, ..valid.clone() }).contains("null character"));
        assert_eq!(check(MailConfig { port: 0, ..valid.clone() }), "0 is not a port of a mail server");
        let timeout = Duration::from_millis(500);
        assert_eq!(check(MailConfig { timeout, ..valid }), "a timeout of 0.5 s is not between 1 and 600 s");
    }

    #[test]
    fn debug_output_hides_the_password() {
        assert!(!format!("{:?}", config("localhost")).contains("secret-password"));
    }

    #[test]
    fn tls_is_required_if_it_is_not_configured() {
        assert_eq!(MailTls::for_port(465), MailTls::Implicit);
        for port in [25, 587, 2525] {
            assert_eq!(MailTls::for_port(port), MailTls::StartTls);
        }
    }
}
