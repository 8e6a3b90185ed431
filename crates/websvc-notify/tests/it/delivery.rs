//! Delivery to a fake mail server, which can misbehave.

use std::time::Duration;

use websvc_notify::{DiffMode, MailConfig, MailError, MailPassword, MailTls, Mailer};
use websvc_testkit::{FakeSmtp, SmtpFault, SmtpRules, SmtpTls};

use crate::support::{Certificates, HOST, client, compose, config, report};

const LOGIN: (&str, &str) = ("websvc", "correct horse");

fn with_login(config: MailConfig, password: &str) -> MailConfig {
    MailConfig {
        user: Some(LOGIN.0.to_owned()),
        password: Some(MailPassword::new(password.to_owned())),
        ..config
    }
}

async fn send(config: MailConfig, certificates: Option<&Certificates>) -> Result<(), MailError> {
    let client = client(certificates, config.port);
    Mailer::new(config, client).unwrap().send(&compose(&report(), DiffMode::Include)).await
}

/// Sends a message to a server that has this fault, and returns the error.
async fn failure(fault: SmtpFault, timeout: Duration) -> MailError {
    let server = FakeSmtp::start(SmtpRules { fault, ..SmtpRules::default() }).await;
    let config = MailConfig { timeout, ..config("127.0.0.1", server.port(), MailTls::None) };
    let error = send(config, None).await.unwrap_err();
    assert_eq!(server.messages(), []);
    assert!(error.to_string().contains(&format!("mail server 127.0.0.1:{}", server.port())), "{error}");
    error
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn message_arrives_unchanged() {
    let server = FakeSmtp::start(SmtpRules::default()).await;
    send(config("127.0.0.1", server.port(), MailTls::None), None).await.unwrap();
    let messages = server.messages();
    let [message] = &messages[..] else { panic!("{messages:?}") };
    assert_eq!(
        (message.from.as_str(), &message.to[..]),
        ("alerts@websvc.example", &["ada@example.com".to_owned()][..])
    );
    assert_eq!(message.user, None);
    let sent = compose(&report(), DiffMode::Include);
    assert_eq!(message.data.trim_end(), std::str::from_utf8(sent.as_bytes()).unwrap().trim_end());
    assert_eq!(server.commands()[0], "plain EHLO websvc.example");
    assert_eq!(server.commands().last().unwrap(), "plain QUIT");
}

#[tokio::test]
async fn password_is_sent_over_tls_only() {
    let certificates = Certificates::new();
    for mechanisms in ["PLAIN LOGIN", "LOGIN"] {
        for tls in [MailTls::StartTls, MailTls::Implicit] {
            let acceptor = certificates.acceptor();
            let server_tls = match tls {
                MailTls::Implicit => SmtpTls::Implicit(acceptor),
                MailTls::None | MailTls::StartTls => SmtpTls::StartTls(acceptor),
            };
            let rules = SmtpRules { tls: server_tls, login: Some(LOGIN), mechanisms, ..SmtpRules::default() };
            let server = FakeSmtp::start(rules).await;
            let config = with_login(config(HOST, server.port(), tls), LOGIN.1);
            send(config, Some(&certificates)).await.unwrap();
            let message = server.messages().remove(0);
            assert!(message.is_encrypted);
            assert_eq!(message.user.as_deref(), Some(LOGIN.0));
            let plain: Vec<String> =
                server.commands().into_iter().filter(|command| command.starts_with("plain")).collect();
            let expected: &[&str] = match tls {
                MailTls::StartTls => &["plain EHLO websvc.example", "plain STARTTLS"],
                MailTls::None | MailTls::Implicit => &[],
            };
            assert_eq!(plain, expected);
        }
    }
}

#[tokio::test]
async fn replies_that_were_sent_before_tls_are_dropped() {
    let certificates = Certificates::new();
    let fault = SmtpFault::InjectBeforeTls;
    let rules = SmtpRules { tls: SmtpTls::StartTls(certificates.acceptor()), fault, ..SmtpRules::default() };
    let server = FakeSmtp::start(rules).await;
    let sent = send(config(HOST, server.port(), MailTls::StartTls), Some(&certificates)).await;
    // If they arrive with the reply, they are dropped with it; if they arrive later, they are not TLS.
    match sent {
        Ok(()) => assert!(server.messages()[0].is_encrypted),
        Err(error) => assert!(matches!(error, MailError::Tls { .. }), "{error}"),
    }
    assert!(server.commands().iter().all(|command| !command.starts_with("plain MAIL")));
}

#[tokio::test]
async fn server_without_tls_gets_no_message() {
    let server = FakeSmtp::start(SmtpRules { login: Some(LOGIN), ..SmtpRules::default() }).await;
    let config = with_login(config("127.0.0.1", server.port(), MailTls::StartTls), LOGIN.1);
    let error = send(config, None).await.unwrap_err();
    assert!(error.to_string().ends_with("it does not offer STARTTLS"), "{error}");
    assert_eq!(server.commands(), ["plain EHLO websvc.example", "plain QUIT"]);
}

#[tokio::test]
async fn certificate_for_another_host_is_not_accepted() {
    let certificates = Certificates::new();
    for (tls, server_tls) in [
        (MailTls::StartTls, SmtpTls::StartTls(certificates.acceptor())),
        (MailTls::Implicit, SmtpTls::Implicit(certificates.acceptor())),
    ] {
        let server = FakeSmtp::start(SmtpRules { tls: server_tls, ..SmtpRules::default() }).await;
        let error = send(config("other.test", server.port(), tls), Some(&certificates)).await.unwrap_err();
        assert!(matches!(error, MailError::Tls { .. }), "{error}");
        assert!(error.to_string().ends_with("the certificate is for another host"), "{error}");
        let untrusted = send(config(HOST, server.port(), tls), None).await.unwrap_err();
        assert!(untrusted.to_string().ends_with("the certificate's issuer is not trusted"), "{untrusted}");
        assert_eq!(server.messages(), []);
        assert!(!untrusted.is_transient());
    }
}

#[tokio::test]
async fn wrong_password_is_an_error_that_does_not_show_it() {
    for fault in [SmtpFault::None, SmtpFault::RepeatPassword] {
        let server = FakeSmtp::start(SmtpRules { login: Some(LOGIN), fault, ..SmtpRules::default() }).await;
        let config = with_login(config("127.0.0.1", server.port(), MailTls::None), "wrong battery");
        let error = send(config, None).await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(!text.contains("wrong battery"), "{text}");
        assert!(
            text.contains("did not accept the user name and the password: 535 5.7.8 wrong user name"),
            "{text}"
        );
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn server_without_a_known_mechanism_gets_no_password() {
    let rules = SmtpRules { login: Some(LOGIN), mechanisms: "CRAM-MD5", ..SmtpRules::default() };
    let server = FakeSmtp::start(rules).await;
    let config = with_login(config("127.0.0.1", server.port(), MailTls::None), LOGIN.1);
    let error = send(config, None).await.unwrap_err();
    assert!(error.to_string().ends_with("offers no authentication by PLAIN or LOGIN"), "{error}");
    assert!(server.commands().iter().all(|command| !command.contains("AUTH")));
}

#[tokio::test]
async fn refused_sender_and_recipient_are_named_with_the_words_of_the_server() {
    let server =
        FakeSmtp::start(SmtpRules { refused: vec!["ada@example.com"], ..SmtpRules::default() }).await;
    let error = send(config("127.0.0.1", server.port(), MailTls::None), None).await.unwrap_err();
    let expected = "refused the recipient ada@example.com: 550 5.1.1 no such user";
    assert!(error.to_string().contains(expected), "{error}");
    assert!(!error.is_transient());
    assert_eq!(server.commands().last().unwrap(), "plain QUIT");

    let server = FakeSmtp::start(SmtpRules { login: Some(LOGIN), ..SmtpRules::default() }).await;
    let error = send(config("127.0.0.1", server.port(), MailTls::None), None).await.unwrap_err();
    let expected = "refused the sender alerts@websvc.example: 530 5.7.0 authentication required";
    assert!(error.to_string().contains(expected), "{error}");
}

#[tokio::test]
async fn hanging_server_ends_with_the_timeout() {
    for fault in [SmtpFault::Hang, SmtpFault::HangAfterMessage] {
        let error = failure(fault, Duration::from_secs(1)).await;
        assert!(matches!(error, MailError::Timeout { .. }), "{error}");
        assert!(error.to_string().contains("did not finish within 1 s"), "{error}");
        assert!(error.is_transient());
    }
}

#[tokio::test]
async fn broken_conversations_are_transient_errors() {
    for fault in [SmtpFault::CutInMessage, SmtpFault::NotSmtp, SmtpFault::EndlessLine] {
        let error = failure(fault, LONG).await;
        assert!(matches!(error, MailError::Connection { .. }), "{fault:?}: {error}");
        assert!(error.is_transient());
    }
    let error = failure(SmtpFault::EndlessLine, LONG).await;
    assert!(error.to_string().contains("the server sent more than 256 KiB"), "{error}");
    let error = failure(SmtpFault::Busy, LONG).await;
    assert!(error.to_string().ends_with("refused the message: 421 4.3.2 too many connections"), "{error}");
    assert!(error.is_transient());
}

#[tokio::test]
async fn closed_port_is_a_connect_error() {
    let port = FakeSmtp::start(SmtpRules::default()).await.port();
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert_ne!(port, unused);
    let error = send(config("127.0.0.1", unused, MailTls::None), None).await.unwrap_err();
    assert!(matches!(error, MailError::Connect { .. }), "{error}");
    assert_eq!(error.to_string(), format!("could not connect to the mail server 127.0.0.1:{unused}"));
}

#[tokio::test]
async fn probe_authenticates_and_sends_nothing() {
    let server = FakeSmtp::start(SmtpRules { login: Some(LOGIN), ..SmtpRules::default() }).await;
    let config = with_login(config("127.0.0.1", server.port(), MailTls::None), LOGIN.1);
    Mailer::new(config.clone(), client(None, config.port)).unwrap().probe().await.unwrap();
    let commands: Vec<String> =
        server.commands().iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(commands, ["EHLO", "AUTH", "QUIT"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_deliveries_share_a_few_connections() {
    let server = FakeSmtp::start(SmtpRules::default()).await;
    let mailer =
        Mailer::new(config("127.0.0.1", server.port(), MailTls::None), client(None, server.port())).unwrap();
    let deliveries: Vec<_> = (0..20)
        .map(|_| {
            let mailer = mailer.clone();
            tokio::spawn(async move { mailer.send(&compose(&report(), DiffMode::Omit)).await })
        })
        .collect();
    for delivery in deliveries {
        delivery.await.unwrap().unwrap();
    }
    assert_eq!(server.messages().len(), 20);
    assert!(server.max_connections() <= 4, "{}", server.max_connections());
}
