//! Emails about checks: confirmation, content, unsubscribing, failures, and a killed service.

use http::{Method, StatusCode};
use quoted_printable::ParseMode;
use serde_json::{Value, json};
use websvc_testkit::{FakeSmtp, SmtpFault, SmtpMessage, SmtpRules, until};

use super::{MonitorTest, serve, wait_for_notifications};
use crate::harness::{Response, Service, assert_fields};

const PUBLIC_URL: &str = "https://alerts.test";
const ANNA: &str = "anna@tea.test";
const BEA: &str = "bea@tea.test";

/// Returns the settings of a service that submits emails to a server.
fn settings(port: &str) -> [(&'static str, &str); 6] {
    [
        ("WEBSVC__SERVER__PUBLIC_URL", PUBLIC_URL),
        ("WEBSVC__MAIL__HOST", "127.0.0.1"),
        ("WEBSVC__MAIL__PORT", port),
        ("WEBSVC__MAIL__TLS", "none"),
        ("WEBSVC__MAIL__FROM", "websvc <alerts@tea.test>"),
        ("WEBSVC__WEBHOOKS__INITIAL_BACKOFF_MS", "10"),
    ]
}

async fn start(server: &FakeSmtp) -> MonitorTest {
    MonitorTest::with_settings(&settings(&server.port().to_string())).await
}

/// Ends the service, and starts it with another mail server.
fn restart(test: &mut MonitorTest, server: &FakeSmtp) {
    test.service.end();
    test.service = serve(&test.site, &settings(&server.port().to_string()));
}

fn notification(recipients: &[&str]) -> Value {
    json!({ "email": { "enabled": true, "recipients": recipients, "includeDiffs": true } })
}

fn messages_to(server: &FakeSmtp, address: &str) -> Vec<SmtpMessage> {
    server.messages().into_iter().filter(|message| message.to == [address]).collect()
}

/// Returns the decoded plain text of a message.
fn plain(message: &SmtpMessage) -> String {
    let part = message.data.split("--=_websvc_part").nth(1).unwrap();
    let (head, body) = part.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("text/plain") && head.contains("quoted-printable"), "{head}");
    String::from_utf8(quoted_printable::decode(body, ParseMode::Robust).unwrap()).unwrap()
}

/// Returns a header, with its lines joined.
fn header(message: &SmtpMessage, name: &str) -> Option<String> {
    let head = message.data.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ");
    let prefix = format!("{name}: ");
    head.lines().find_map(|line| line.strip_prefix(&prefix)).map(str::to_owned)
}

/// Returns the path of a link in a message.
fn link(message: &SmtpMessage, action: &str) -> String {
    let text = plain(message);
    let start = format!("{PUBLIC_URL}/v2/monitor/email/{action}?token=");
    let url = text.split_whitespace().find(|word| word.starts_with(&start));
    url.unwrap_or_else(|| panic!("a link to {action} in {text}"))[PUBLIC_URL.len()..].to_owned()
}

fn token(path: &str) -> String {
    path.split_once("?token=").unwrap().1.to_owned()
}

/// Sends JSON without a key.
async fn post_token(service: &Service, action: &str, body: Value) -> Response {
    let headers = [("authorization", ""), ("content-type", "application/json")];
    service.send(Method::POST, &format!("/v2/monitor/email/{action}"), &headers, body.to_string()).await
}

/// Sends a form without a key.
async fn post_form(service: &Service, path: &str, body: &str) -> Response {
    let headers = [("authorization", ""), ("content-type", "application/x-www-form-urlencoded")];
    service.send(Method::POST, path, &headers, body).await
}

/// Returns the status of the first recipient, and whether the email that asks for a confirmation was sent.
async fn subscription(test: &MonitorTest, monitor: &str) -> (String, bool) {
    let body = test.service.get(monitor).await.body;
    let subscription = &body["data"]["emailRecipientSubscriptions"][0];
    let status = subscription["status"].as_str().unwrap().to_owned();
    (status, subscription["confirmationEmailSent"].as_bool().unwrap())
}

/// Creates a monitor whose recipients have all confirmed.
async fn create_confirmed(test: &MonitorTest, server: &FakeSmtp, recipients: &[&str]) -> String {
    let monitor = test.create(json!({ "notification": notification(recipients) })).await;
    for recipient in recipients {
        until("the confirmation has arrived", || !messages_to(server, recipient).is_empty()).await;
        let token = token(&link(&messages_to(server, recipient)[0], "confirm"));
        let confirmed = post_token(&test.service, "confirm", json!({ "token": token })).await;
        assert_eq!(confirmed.status, StatusCode::OK, "{}", confirmed.body);
    }
    monitor
}

/// Waits until no email of a check waits.
async fn wait_for_emails(test: &MonitorTest, monitor: &str, check: &Value) -> Value {
    let status = wait_for_notifications(&test.service, monitor, check, |status| {
        status["email"]["success"] == true || status["email"]["error"].is_string()
    });
    status.await["email"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn recipient_confirms_and_gets_an_email_with_the_diff() {
    let server = FakeSmtp::start(SmtpRules::default()).await;
    let test = start(&server).await;
    let created = test.try_create(json!({ "notification": notification(&[ANNA]) })).await;
    assert_eq!((created.status, created.body.get("warning")), (StatusCode::OK, None), "{}", created.body);
    let monitor = format!("/v2/monitor/{}", created.body["data"]["id"].as_str().unwrap());
    until("the confirmation has arrived", || server.messages().len() == 1).await;
    let confirmation = server.messages().remove(0);
    assert_eq!((confirmation.from.as_str(), confirmation.to), ("alerts@tea.test", vec![ANNA.to_owned()]));
    // No recipient has confirmed, so the first check sends nothing.
    let check = test.run(&monitor).await;
    let email = wait_for_emails(&test, &monitor, &check).await;
    assert_eq!(email["error"], "no recipient has confirmed their address");
    let link_path = link(&server.messages()[0], "confirm");
    // Mail scanners open links, so opening it changes nothing.
    let page = test.service.text(&link_path).await;
    assert!(page.contains("<button") && page.contains("anna@tea.test"), "{page}");
    assert_eq!(subscription(&test, &monitor).await, ("pending".to_owned(), true));
    let confirmed = post_token(&test.service, "confirm", json!({ "token": token(&link_path) })).await;
    let expected = json!({ "success": true, "result": "confirmed", "email": ANNA, "monitorName": "Tea" });
    assert_eq!((confirmed.status, &confirmed.body), (StatusCode::OK, &expected));
    assert_eq!(subscription(&test, &monitor).await, ("confirmed".to_owned(), true));
    test.shop.set_tea(&["Sencha costs 14 euros.", "Rooibos costs 5 euros."]);
    let check = test.run(&monitor).await;
    let email = wait_for_emails(&test, &monitor, &check).await;
    assert_eq!(email, json!({ "attempted": true, "success": true, "recipients": [ANNA] }));
    let report = server.messages().remove(1);
    assert_eq!(header(&report, "Subject").as_deref(), Some("Tea: 1 page changed"));
    let text = plain(&report);
    assert!(text.contains("-Sencha costs 12 euros.") && text.contains("+Sencha costs 14 euros."), "{text}");
    let unsubscribe = format!("<{PUBLIC_URL}{}>", link(&report, "unsubscribe"));
    assert_eq!(header(&report, "List-Unsubscribe"), Some(unsubscribe));
    assert_eq!(header(&report, "List-Unsubscribe-Post").as_deref(), Some("List-Unsubscribe=One-Click"));
    // A check without changes sends nothing.
    let check = test.run(&monitor).await;
    let email = wait_for_emails(&test, &monitor, &check).await;
    assert_eq!((&email["attempted"], server.messages().len()), (&json!(false), 2), "{email}");
    let metrics = test.service.text("/metrics").await;
    for sample in [
        "websvc_monitor_messages_total{kind=\"confirmation\",outcome=\"sent\"} 1",
        "websvc_monitor_messages_total{kind=\"email\",outcome=\"sent\"} 1",
        "websvc_monitor_messages_waiting 0",
    ] {
        assert!(metrics.contains(sample), "{sample} in {metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn recipient_unsubscribes_with_one_click_and_gets_no_more_emails() {
    let server = FakeSmtp::start(SmtpRules::default()).await;
    let test = start(&server).await;
    let monitor = create_confirmed(&test, &server, &[ANNA]).await;
    let check = test.run(&monitor).await;
    assert_eq!(wait_for_emails(&test, &monitor, &check).await["success"], true);
    let path = link(&messages_to(&server, ANNA)[1], "unsubscribe");
    assert!(test.service.text(&path).await.contains("Unsubscribe"));
    assert_eq!(subscription(&test, &monitor).await.0, "confirmed");
    let clicked = post_form(&test.service, &path, "List-Unsubscribe=One-Click").await;
    assert_eq!(clicked.status, StatusCode::OK);
    let policy = clicked.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("form-action 'self'"), "{policy}");
    assert_eq!(subscription(&test, &monitor).await.0, "unsubscribed");
    test.shop.set_tea(&["Another text"]);
    let check = test.run(&monitor).await;
    assert_eq!(wait_for_emails(&test, &monitor, &check).await["attempted"], false);
    assert_eq!(messages_to(&server, ANNA).len(), 2);
    // The team cannot subscribe the address again. Its owner can, by the links of the emails.
    let patched = test.patch(&monitor, json!({ "notification": notification(&[ANNA]) })).await;
    assert_eq!(patched.body["data"]["emailRecipientSubscriptions"][0]["status"], "unsubscribed");
    let confirm = link(&messages_to(&server, ANNA)[0], "confirm");
    assert_eq!(post_form(&test.service, &confirm, "").await.status, StatusCode::OK);
    assert_eq!(subscription(&test, &monitor).await.0, "confirmed");
    let unsubscribed = post_token(&test.service, "unsubscribe", json!({ "token": token(&path) })).await.body;
    assert_eq!((&unsubscribed["result"], &unsubscribed["email"]), (&json!("unsubscribed"), &json!(ANNA)));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_and_unknown_tokens_are_rejected() {
    let server = FakeSmtp::start(SmtpRules::default()).await;
    let test = start(&server).await;
    create_confirmed(&test, &server, &[ANNA]).await;
    let valid = token(&link(&messages_to(&server, ANNA)[0], "confirm"));
    for action in ["confirm", "unsubscribe"] {
        for invalid in [json!({}), json!({ "token": "short" }), json!({ "token": "a".repeat(65) })] {
            let response = post_token(&test.service, action, invalid.clone()).await;
            let found = (response.status, &response.body["error"]);
            assert_eq!(found, (StatusCode::BAD_REQUEST, &json!("invalid_token")), "{invalid}");
        }
        let response = post_token(&test.service, action, json!({ "token": "0123456789abcdef" })).await;
        let found = (response.status, &response.body["error"]);
        assert_eq!(found, (StatusCode::NOT_FOUND, &json!("not_found")), "{action}");
        let path = format!("/v2/monitor/email/{action}");
        // The token of JSON is in the body.
        let headers = [("content-type", "application/json")];
        let in_query =
            test.service.send(Method::POST, &format!("{path}?token={valid}"), &headers, "{}").await;
        assert_eq!(in_query.body["error"], "invalid_token");
        for (query, status) in [("", 400), ("?token=short", 400), ("?token=0123456789abcdef", 404)] {
            let url = format!("{path}{query}");
            assert_eq!(test.service.get(&url).await.status, status, "{url}");
            let form = post_form(&test.service, &url, "List-Unsubscribe=One-Click").await;
            assert_eq!(form.status, status, "{url}");
        }
    }
    // A token has one purpose.
    let other = post_token(&test.service, "unsubscribe", json!({ "token": valid })).await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_recipient_appears_in_the_notification_status() {
    let server = FakeSmtp::start(SmtpRules::default()).await;
    let mut test = start(&server).await;
    let monitor = create_confirmed(&test, &server, &[ANNA, BEA]).await;
    let refusing = FakeSmtp::start(SmtpRules { refused: vec![BEA], ..SmtpRules::default() }).await;
    restart(&mut test, &refusing);
    let check = test.run(&monitor).await;
    until("the email to the other recipient has arrived", || !refusing.messages().is_empty()).await;
    let status = wait_for_notifications(&test.service, &monitor, &check, |status| {
        status["email"]["error"].is_string()
    })
    .await;
    let email = &status["email"];
    assert_fields(email, &json!({ "attempted": true, "success": false, "recipients": [ANNA, BEA] }));
    assert!(email["error"].as_str().unwrap().contains("refused the recipient bea@tea.test"), "{email}");
    assert_eq!(messages_to(&refusing, ANNA).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn busy_mail_server_gets_the_email_later() {
    let server = FakeSmtp::start(SmtpRules::default()).await;
    let mut test = start(&server).await;
    let monitor = create_confirmed(&test, &server, &[ANNA]).await;
    let busy = FakeSmtp::start(SmtpRules { fault: SmtpFault::Busy, ..SmtpRules::default() }).await;
    restart(&mut test, &busy);
    let check = test.run(&monitor).await;
    let email = wait_for_emails(&test, &monitor, &check).await;
    assert_eq!((&email["attempted"], &email["success"]), (&json!(true), &json!(false)), "{email}");
    assert!(email["error"].as_str().unwrap().contains("421"), "{email}");
    restart(&mut test, &server);
    let sent =
        wait_for_notifications(&test.service, &monitor, &check, |status| status["email"]["success"] == true)
            .await;
    assert_eq!(sent["email"].get("error"), None, "{sent}");
    assert_eq!(messages_to(&server, ANNA).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_service_sends_the_emails_of_its_check_once_after_the_restart() {
    let server = FakeSmtp::start(SmtpRules::default()).await;
    let mut test = start(&server).await;
    let monitor = create_confirmed(&test, &server, &[ANNA, BEA]).await;
    // The connection is open, and the server says nothing.
    let silent = FakeSmtp::start(SmtpRules { fault: SmtpFault::Hang, ..SmtpRules::default() }).await;
    restart(&mut test, &silent);
    let check = test.run(&monitor).await;
    until("both emails are being sent", || silent.max_connections() == 2).await;
    test.service.kill();
    restart(&mut test, &server);
    let sent =
        wait_for_notifications(&test.service, &monitor, &check, |status| status["email"]["success"] == true)
            .await;
    assert_eq!(sent["email"]["recipients"], json!([ANNA, BEA]));
    for address in [ANNA, BEA] {
        assert_eq!(messages_to(&server, address).len(), 2, "the confirmation and one report to {address}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn check_of_a_killed_service_is_reported_by_a_duplicate_at_most() {
    let server = FakeSmtp::start(SmtpRules::default()).await;
    let mut test = start(&server).await;
    let monitor = create_confirmed(&test, &server, &[ANNA]).await;
    // The server has the email, and its reply never arrives.
    let rules = SmtpRules { fault: SmtpFault::HangAfterMessage, ..SmtpRules::default() };
    let silent = FakeSmtp::start(rules).await;
    restart(&mut test, &silent);
    let check = test.run(&monitor).await;
    let commands =
        |server: &FakeSmtp| server.commands().into_iter().filter(|command| command.ends_with("DATA")).count();
    for attempt in 1..=2 {
        until("the email is being sent", || commands(&silent) == attempt).await;
        test.service.kill();
        restart(&mut test, &silent);
    }
    let email = wait_for_emails(&test, &monitor, &check).await;
    assert!(email["error"].as_str().unwrap().contains("interrupted twice"), "{email}");
    assert_eq!((commands(&silent), &email["success"]), (2, &json!(false)));
}
