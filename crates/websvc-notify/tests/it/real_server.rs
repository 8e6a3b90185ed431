//! Delivery to aiosmtpd, a mail server that is not ours, and a reader of messages that is not ours either.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;
use websvc_notify::{DiffMode, MailConfig, MailError, MailPassword, MailTls, Mailbox, Mailer, ReportMail};
use websvc_testkit::skip;

use crate::support::{Certificates, HOST, client, compose, config, report, time};

/// Listens on a free port and prints it. Then it prints each message as a line of JSON.
const SCRIPT: &str = r#"
import asyncio, email, email.policy, json, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

cert, key, implicit = sys.argv[1], sys.argv[2], sys.argv[3] == "implicit"
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)

class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 5.1.1 mailbox unavailable"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        print(json.dumps({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "user": session.auth_data.login.decode() if session.auth_data else None,
            "tls": session.ssl is not None or implicit,
            "headers": {name: str(value) for name, value in message.items()},
            "to_name": message["To"].addresses[0].display_name,
            "defects": [repr(defect) for part in message.walk() for defect in part.defects],
            "plain": message.get_body(("plain",)).get_content(),
            "html": message.get_body(("html",)).get_content(),
        }), flush=True)
        return "250 OK"

def authenticate(server, session, envelope, mechanism, data):
    known = isinstance(data, LoginPassword) and data == LoginPassword(b"websvc", "pässword".encode())
    return AuthResult(success=known, handled=False, auth_data=data)

def factory():
    options = {"auth_require_tls": False} if implicit else {"tls_context": context, "require_starttls": True}
    return SMTP(Handler(), authenticator=authenticate, auth_required=True, hostname="mail.test", **options)

async def main():
    tls = context if implicit else None
    server = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", 0, ssl=tls)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"#;

/// A process with the server, which is ended when dropped.
struct RealServer {
    child: Child,
    output: BufReader<ChildStdout>,
    port: u16,
}

impl RealServer {
    /// Starts the server, or returns `None` if this machine has no Python for tests.
    fn start(certificates: &Certificates, mode: &str) -> Option<Self> {
        let Some(python) = std::env::var_os("WEBSVC_TEST_PYTHON") else {
            skip("WEBSVC_TEST_PYTHON is not set (cargo xtask test)");
            return None;
        };
        let file = |name: &str| certificates.dir.path().join(name);
        let mut child = Command::new(python)
            .args(["-c", SCRIPT])
            .args([file("cert.pem"), file("key.pem")])
            .arg(mode)
            .env("PYTHONIOENCODING", "utf-8")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, output, port: 0 };
        server.port = server.line().trim().parse().unwrap();
        Some(server)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn message(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn mailer(certificates: &Certificates, port: u16, tls: MailTls, password: &str) -> Mailer {
    let config = MailConfig {
        user: Some("websvc".to_owned()),
        password: Some(MailPassword::new(password.to_owned())),
        ..config(HOST, port, tls)
    };
    Mailer::new(config, client(Some(certificates), port)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn independent_server_receives_and_reads_messages() {
    let certificates = Certificates::new();
    for (mode, tls) in [("starttls", MailTls::StartTls), ("implicit", MailTls::Implicit)] {
        let Some(mut server) = RealServer::start(&certificates, mode) else { return };
        let mailer = mailer(&certificates, server.port, tls, "pässword");
        mailer.probe().await.unwrap();
        let mut report = report();
        report.monitor_name = "Prix du thé 🍵\r\nBcc: eve@example.com".to_owned();
        let to = Mailbox::parse("Ada Lovelace, \u{202e}née Byron <ada@example.com>").unwrap();
        let mail = ReportMail {
            report: &report,
            from: mailer.from(),
            to: &to,
            unsubscribe_url: None,
            diffs: DiffMode::Include,
            date: time(),
        };
        mailer.send(&mail.compose()).await.unwrap();
        let message = server.message();
        assert_eq!(message["from"], "alerts@websvc.example");
        assert_eq!(message["to"], serde_json::json!(["ada@example.com"]));
        assert_eq!(message["user"], "websvc");
        assert_eq!(message["tls"], true);
        assert_eq!(message["defects"], serde_json::json!([]));
        assert_eq!(message["to_name"], "Ada Lovelace, née Byron");
        let headers = message["headers"].as_object().unwrap();
        let subject = "Prix du thé 🍵 Bcc: eve@example.com: 2 pages changed, 1 new, 1 removed, 1 failed";
        assert_eq!(headers["Subject"], subject);
        assert!(!headers.contains_key("Bcc"));
        assert_eq!(headers["Date"], "Wed, 25 Nov 2026 18:59:22 +0000");
        assert!(message["plain"].as_str().unwrap().contains("  -5 EUR\r\n  +6 EUR\r\n"), "{message}");
        assert!(message["html"].as_str().unwrap().contains(">+6 EUR</pre>"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn independent_server_refuses_password_and_recipient() {
    let certificates = Certificates::new();
    let Some(server) = RealServer::start(&certificates, "starttls") else { return };
    let wrong = mailer(&certificates, server.port, MailTls::StartTls, "wrong");
    let mail = compose(&report(), DiffMode::Omit);
    let error = wrong.send(&mail).await.unwrap_err();
    assert!(matches!(error, MailError::Authentication { .. }), "{error}");
    let right = mailer(&certificates, server.port, MailTls::StartTls, "pässword");
    let (report, to) = (report(), Mailbox::parse("nobody@example.com").unwrap());
    let diffs = DiffMode::Omit;
    let mail = ReportMail {
        report: &report,
        from: right.from(),
        to: &to,
        unsubscribe_url: None,
        diffs,
        date: time(),
    };
    let error = right.send(&mail.compose()).await.unwrap_err();
    let expected = "refused the recipient nobody@example.com: 550 5.1.1 mailbox unavailable";
    assert!(error.to_string().contains(expected), "{error}");
}
