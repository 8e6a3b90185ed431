//! Reports, servers and a reader of messages.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tokio_rustls::TlsAcceptor;
use url::{Host, Url};
use uuid::Uuid;
use websvc_notify::{
    CheckReport, CheckStatus, DiffMode, FieldChange, Judgment, Mail, MailConfig, MailTls, Mailbox,
    MeaningfulChange, MeaningfulChangeKind, MonitorPageStatus, PageCounts, PageReport, ReportMail,
};
use websvc_testkit::{Authority, SmtpStream, SmtpTlsAcceptor};
use websvc_transport::{AddressGuard, Client, ClientConfig};

/// Name of the mail server in certificates.
pub(crate) const HOST: &str = "mail.test";

pub(crate) fn time() -> Timestamp {
    "2026-11-25T18:59:22Z".parse().unwrap()
}

pub(crate) fn page(url: &str, status: MonitorPageStatus) -> PageReport {
    PageReport {
        url: url.to_owned(),
        title: None,
        status,
        judgment: None,
        diff: None,
        fields: Vec::new(),
        error: None,
    }
}

pub(crate) fn empty_report() -> CheckReport {
    CheckReport {
        monitor_id: Uuid::from_u128(1),
        monitor_name: "Prices".to_owned(),
        check_id: Uuid::from_u128(2),
        status: CheckStatus::Completed,
        finished_at: time(),
        counts: PageCounts::default(),
        pages: Vec::new(),
        error: None,
        dashboard_url: None,
    }
}

/// A check with a page of each status.
pub(crate) fn report() -> CheckReport {
    let judgment = Judgment {
        is_meaningful: true,
        reason: "The price of green tea rose.".to_owned(),
        changes: vec![MeaningfulChange {
            kind: MeaningfulChangeKind::Changed,
            before: Some("5 EUR".to_owned()),
            after: Some("6 EUR".to_owned()),
            reason: "20 % more".to_owned(),
        }],
    };
    let tea = PageReport {
        title: Some("Tea & more".to_owned()),
        judgment: Some(judgment),
        diff: Some(
            "--- previous.md\n+++ current.md\n@@ -1,3 +1,3 @@\n # Tea\n \n-5 EUR\n+6 EUR\n".to_owned(),
        ),
        ..page("https://shop.example/tea", MonitorPageStatus::Changed)
    };
    let coffee = PageReport {
        fields: vec![FieldChange {
            path: "plans[0].price".to_owned(),
            previous: json!(7.5),
            current: json!("8 EUR"),
        }],
        ..page("https://shop.example/coffee", MonitorPageStatus::Changed)
    };
    let failed = PageReport {
        error: Some("the host was not found".to_owned()),
        ..page("https://gone.example/", MonitorPageStatus::Error)
    };
    CheckReport {
        status: CheckStatus::Partial,
        counts: PageCounts { new: 1, changed: 2, removed: 1, error: 1, same: 40 },
        pages: vec![
            failed,
            page("https://shop.example/same", MonitorPageStatus::Same),
            page("https://shop.example/old", MonitorPageStatus::Removed),
            page("https://shop.example/new", MonitorPageStatus::New),
            tea,
            coffee,
        ],
        dashboard_url: Some(Url::parse("https://websvc.example/dashboard#/check/2").unwrap()),
        ..empty_report()
    }
}

pub(crate) fn sender() -> Mailbox {
    Mailbox::parse("websvc <alerts@websvc.example>").unwrap()
}

pub(crate) fn compose(report: &CheckReport, diffs: DiffMode) -> Mail {
    let url = Url::parse("https://websvc.example/unsubscribe?token=0123456789abcdef").unwrap();
    let (from, to) = (sender(), Mailbox::parse("ada@example.com").unwrap());
    ReportMail { report, from: &from, to: &to, unsubscribe_url: Some(&url), diffs, date: time() }.compose()
}

/// A message, read again.
pub(crate) struct ReadMail {
    /// Names and unfolded values of the headers.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) plain: String,
    pub(crate) html: String,
}

impl ReadMail {
    pub(crate) fn header(&self, name: &str) -> &str {
        let values: Vec<_> = self.headers.iter().filter(|(header, _)| header == name).collect();
        assert_eq!(values.len(), 1, "{name}: {:?}", self.headers);
        &values[0].1
    }
}

/// Reads a message with two parts (RFC 5322, RFC 2046), and checks its lines.
pub(crate) fn read(message: &[u8]) -> ReadMail {
    let text = std::str::from_utf8(message).unwrap();
    assert!(text.is_ascii());
    assert!(!text.replace("\r\n", "").contains(['\r', '\n']), "every line ends with CR and LF");
    assert!(text.split("\r\n").all(|line| line.len() <= 998));
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let parts: Vec<&str> = body.split("--=_websvc_part").collect();
    let [_, plain, html, end] = parts[..] else { panic!("{} parts", parts.len()) };
    assert_eq!(end.trim(), "--");
    let part = |part: &str, content_type: &str| {
        let (head, body) = part.trim_start().split_once("\r\n\r\n").unwrap();
        assert!(head.contains(content_type), "{head}");
        let bytes = if head.contains("base64") {
            BASE64_STANDARD.decode(body.replace("\r\n", "")).unwrap()
        } else {
            assert!(head.contains("quoted-printable"), "{head}");
            quoted_printable::decode(body, quoted_printable::ParseMode::Strict).unwrap()
        };
        String::from_utf8(bytes).unwrap().replace("\r\n", "\n").trim_end().to_owned()
    };
    let headers = head.replace("\r\n ", " ");
    ReadMail {
        headers: headers
            .split("\r\n")
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        plain: part(plain, "text/plain; charset=utf-8"),
        html: part(html, "text/html; charset=utf-8"),
    }
}

/// Certificates of [`HOST`] and of the authority, as files.
pub(crate) struct Certificates {
    pub(crate) dir: tempfile::TempDir,
}

impl Certificates {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        std::fs::write(dir.path().join("ca.pem"), authority.pem()).unwrap();
        authority.issue_into(dir.path(), &[HOST.to_owned()]);
        Self { dir }
    }

    pub(crate) fn ca_file(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    pub(crate) fn acceptor(&self) -> SmtpTlsAcceptor {
        let read = |name: &str| std::fs::read(self.dir.path().join(name)).unwrap();
        let certificate = CertificateDer::from_pem_slice(&read("cert.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_slice(&read("key.pem")).unwrap();
        let config =
            rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![certificate], key)
                .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Arc::new(move |stream| {
            let accepting = acceptor.accept(stream);
            Box::pin(async move { accepting.await.map(|stream| Box::new(stream) as Box<dyn SmtpStream>) })
        })
    }
}

/// A client that trusts the certificates, and connects to the port for [`HOST`] and for `other.test`.
pub(crate) fn client(certificates: Option<&Certificates>, port: u16) -> Client {
    let target = format!("127.0.0.1:{port}");
    let guard = [HOST, "other.test", "127.0.0.1"].iter().fold(AddressGuard::public(), |guard, host| {
        guard.connect_to(&format!("{host}:{port}"), &target).unwrap()
    });
    let ca_file = certificates.map(Certificates::ca_file);
    Client::new(ClientConfig { ca_file, ..ClientConfig::new(guard) }).unwrap()
}

pub(crate) fn config(host: &str, port: u16, tls: MailTls) -> MailConfig {
    MailConfig {
        host: Host::parse(host).unwrap(),
        port,
        tls,
        user: None,
        password: None,
        from: sender(),
        timeout: Duration::from_secs(60),
    }
}
