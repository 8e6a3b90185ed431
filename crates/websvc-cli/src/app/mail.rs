//! The configured mail server.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use url::{Host, Url};
use websvc_notify::{MailConfig, MailPassword, MailTls, Mailbox, Mailer};
use websvc_server::MailSettings;
use websvc_transport::{AddressGuard, Client, ClientConfig};

use crate::config::{self, Config};

const START_TLS_PORT: u16 = 587;
const IMPLICIT_TLS_PORT: u16 = 465;
const PLAIN_PORT: u16 = 25;

/// Returns the mail server without contacting it, and the URL for the links in emails. Returns `None` if none is
/// configured.
pub(crate) fn mail_settings(config: &Config) -> Result<Option<MailSettings>> {
    let config::Mail { host, port, tls, user, password, from, timeout_ms, ca_file } = &config.mail;
    let Some(host) = non_empty(host) else {
        let others = [
            ("port", port.is_some()),
            ("tls", tls.is_some()),
            ("user", user.is_some()),
            ("password", password.is_some()),
            ("from", from.is_some()),
            ("ca_file", ca_file.is_some()),
        ];
        if let Some((name, _)) = others.iter().find(|(_, is_set)| *is_set) {
            bail!("mail.{name} is set, but mail.host is missing");
        }
        return Ok(None);
    };
    let host =
        Host::parse(&host).with_context(|| format!("mail.host: {host} is not a host name or address"))?;
    let (port, tls) = port_and_tls(port.map(std::num::NonZero::get), tls.map(MailTls::from));
    let from = non_empty(from).context("mail.host is set, but mail.from is missing")?;
    let from = Mailbox::parse(&from).context("mail.from")?;
    let public_url =
        config.server.public_url.as_deref().context(
            "mail.host is set, but server.public_url is missing: the links in emails begin with it",
        )?;
    let public_url: Url = public_url.parse().context("server.public_url")?;
    // The operator has chosen the host, so it may be on any network. `fetch.connect_to` is for pages only.
    let address = format!("{host}:{port}");
    let guard = AddressGuard::public().connect_to(&address, &address).context("mail.host")?;
    let mut client = ClientConfig::new(guard);
    client.ca_file.clone_from(ca_file);
    let settings = MailConfig {
        host,
        port,
        tls,
        user: non_empty(user),
        password: non_empty(password).map(MailPassword::new),
        from,
        timeout: Duration::from_millis(timeout_ms.get()),
    };
    let client = Client::new(client).context("mail.ca_file")?;
    let mailer = Mailer::new(settings, client).context("mail")?;
    Ok(Some(MailSettings { mailer, public_url }))
}

/// Returns port and encryption: each decides the other one, if only one is set.
fn port_and_tls(port: Option<u16>, tls: Option<MailTls>) -> (u16, MailTls) {
    match (port, tls) {
        (Some(port), Some(tls)) => (port, tls),
        (Some(port), None) => (port, MailTls::for_port(port)),
        (None, Some(MailTls::Implicit)) => (IMPLICIT_TLS_PORT, MailTls::Implicit),
        (None, Some(MailTls::None)) => (PLAIN_PORT, MailTls::None),
        (None, Some(MailTls::StartTls) | None) => (START_TLS_PORT, MailTls::StartTls),
    }
}

fn non_empty(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output;

    const SERVER: &str = "[server]\npublic_url = 'https://websvc.test'\n[mail]\n";

    #[track_caller]
    fn check(text: &str, expected: Result<bool, &str>) {
        let config: Config = toml::from_str(text).unwrap();
        match (mail_settings(&config), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.is_some(), expected, "{text}"),
            (Err(error), Err(expected)) => {
                let shown = output::causes(error.as_ref());
                assert!(shown.contains(expected), "{shown}");
                assert!(!shown.contains("s3cret"), "{shown}");
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn mail_settings_reject_invalid_values() {
        let valid = format!("{SERVER}host = 'mail.test'\nfrom = 'websvc <alerts@tea.test>'\n");
        check("", Ok(false));
        check(&valid, Ok(true));
        check(&format!("{valid}user = 'a'\npassword = 's3cret'"), Ok(true));
        check(&format!("{valid}tls = 'implicit'\nport = 2465"), Ok(true));
        check("[mail]\nfrom = 'a@b.test'", Err("mail.from is set, but mail.host is missing"));
        check("[mail]\nport = 25", Err("mail.port is set, but mail.host is missing"));
        check("[mail]\ntls = 'none'", Err("mail.tls is set, but mail.host is missing"));
        check("[mail]\nca_file = 'ca.pem'", Err("mail.ca_file is set, but mail.host is missing"));
        check(&format!("{SERVER}host = 'mail.test'"), Err("mail.from is missing"));
        check(&format!("{SERVER}host = 'mail.test'\nfrom = 'alerts'"), Err("mail.from"));
        check(&format!("{SERVER}host = 'a b'\nfrom = 'a@b.test'"), Err("mail.host: a b is not a host name"));
        check("[mail]\nhost = 'mail.test'\nfrom = 'a@b.test'", Err("server.public_url is missing"));
        check(&format!("{valid}password = 's3cret'"), Err("the user name is missing"));
        check(&format!("{valid}tls = 'none'\nuser = 'a'\npassword = 's3cret'"), Err("needs TLS"));
        check(&format!("{valid}timeout_ms = 1"), Err("a timeout of"));
    }

    #[test]
    fn port_and_encryption_decide_each_other() {
        for (port, tls, expected) in [
            (None, None, (587, MailTls::StartTls)),
            (Some(465), None, (465, MailTls::Implicit)),
            (Some(2525), None, (2525, MailTls::StartTls)),
            (None, Some(MailTls::Implicit), (465, MailTls::Implicit)),
            (None, Some(MailTls::None), (25, MailTls::None)),
            (Some(1025), Some(MailTls::None), (1025, MailTls::None)),
        ] {
            assert_eq!(port_and_tls(port, tls), expected);
        }
    }
}
