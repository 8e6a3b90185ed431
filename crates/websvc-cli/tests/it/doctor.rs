//! Tests of `websvc doctor` in valid and invalid installations.

mod models;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use websvc_testkit::{Authority, FakeSmtp, ForwardProxy, Page, Rules, SmtpRules, TestWeb};

use crate::browser::path_or_skip;
use crate::harness::{KEY, Service, Site, tea_world};

/// An installation and the environment variables of the doctor.
struct Installation {
    site: Site,
    variables: Vec<(&'static str, String)>,
}

/// Findings of the doctor by the name of the check, each with state, message and advice.
type Findings = BTreeMap<String, (String, String, String)>;

impl Installation {
    async fn new() -> Self {
        Self::for_world(&TestWeb::builder().start().await)
    }

    fn for_world(world: &TestWeb) -> Self {
        let variables = vec![("WEBSVC__SERVER__LISTEN", "127.0.0.1:0".to_owned())];
        Self { site: Site::new(world), variables }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.site.command(arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the doctor, and returns whether it found no problem, and its findings.
    fn run_doctor(&self) -> (bool, Findings) {
        let output = self.command(&["doctor", "--json"]).output().unwrap();
        let response: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let findings: Findings = response["checks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| {
                let values = (text(finding, "state"), text(finding, "message"), text(finding, "advice"));
                (text(finding, "check"), values)
            })
            .collect();
        for (check, (state, message, advice)) in &findings {
            assert_eq!(state == "ok", advice.is_empty(), "{check}: {message}: advice {advice:?}");
        }
        let is_ok = !findings.values().any(|(state, ..)| state == "problem");
        assert_eq!(response["ok"], is_ok);
        assert_eq!(output.status.success(), is_ok, "{findings:?}");
        (is_ok, findings)
    }

    /// Asserts the state of a check and a part of its message, and that no other check has a problem.
    fn check(&self, check: &str, state: &str, message: &str) {
        let (is_ok, findings) = self.run_doctor();
        let found = &findings[check];
        assert_eq!(found.0, state, "{found:?}");
        assert!(found.1.contains(message), "{found:?}");
        assert_eq!(is_ok, state != "problem", "{findings:#?}");
    }
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn fresh_installation_passes_and_no_file_is_created() {
    let installation = Installation::new().await;
    let (is_ok, findings) = installation.run_doctor();
    assert!(is_ok, "{findings:#?}");
    let expected = [
        "address",
        "agent runs",
        "browser",
        "clock",
        "configuration",
        "data directory",
        "database",
        "disk",
        "dns",
        "documents",
        "index",
        "keys",
        "log",
        "memory",
        "ocr",
        "open files",
        "sessions",
        "values",
    ];
    let checks: Vec<&str> = findings.keys().map(String::as_str).collect();
    if cfg!(target_os = "linux") {
        assert_eq!(checks, expected);
    }
    assert_eq!(findings["documents"].0, "ok");
    assert!(files(installation.site.data_dir()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn text_output_has_a_line_per_check_with_advice() {
    let installation = Installation::new().await.with("WEBSVC__PROXY__BASIC", "['ftp://127.0.0.1']");
    let output = installation.command(&["doctor"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let index = lines.iter().position(|line| line.starts_with("problem  values")).unwrap();
    assert!(lines[index].contains("proxy.basic[0]"), "{text}");
    assert!(lines[index + 1].trim_start().starts_with("-> correct the named key"), "{text}");
    assert!(lines.last().unwrap().starts_with("2 problems, "), "{text}");
    assert!(text.contains("problem  proxy.basic "), "{text}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: 2 problems\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_configuration_is_reported_first() {
    let installation = Installation::new().await.with("WEBSVC__SERVER__LISEN", "x");
    installation.check("configuration", "problem", "`server.lisen`, did you mean `listen`?");
    assert!(!installation.run_doctor().1.contains_key("address"));

    let installation = Installation::new().await.with("WEBSVC_CONFIG", "/no/such/websvc.toml");
    installation.check("configuration", "problem", "/no/such/websvc.toml");
}

#[tokio::test(flavor = "multi_thread")]
async fn database_server_that_cannot_be_used_is_a_problem() {
    let installation = Installation::new().await.with("WEBSVC__STORE__URL", "mysql://db.test/websvc");
    installation.check("values", "problem", "the URL must begin with postgres://");

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("postgres://me:secret@{address}/websvc");
    let installation = Installation::new().await.with("WEBSVC__STORE__URL", url);
    installation.check("database", "problem", "cannot be reached");
    assert!(!format!("{:?}", installation.run_doctor()).contains("secret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn installation_with_a_running_server_passes() {
    let world = tea_world().await;
    let installation = Installation::for_world(&world);
    installation.site.succeed(&["index", "crawl", "http://tea.test/", "--limit", "2"]);
    installation.site.succeed(&["keys", "create"]);
    let (is_ok, findings) = installation.run_doctor();
    assert!(is_ok, "{findings:#?}");
    assert!(findings["database"].1.starts_with("valid, version "), "{findings:#?}");
    assert!(findings["index"].1.starts_with("2 documents, "), "{findings:#?}");
    assert_eq!(findings["keys"].1, "1 stored");

    let service = installation.site.serve();
    let address = service.address.trim_start_matches("http://").to_owned();
    let installation = Installation { variables: vec![("WEBSVC__SERVER__LISTEN", address)], ..installation };
    installation.check("address", "ok", "and is ready");
    assert_eq!(service.get("/ready").await.status, 200);
    assert!(service.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn address_in_use_by_another_program_is_a_problem() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // It accepts the doctor's connection and closes it.
    let other_program = std::thread::spawn(move || drop(listener.accept()));
    let installation = Installation::new().await.with("WEBSVC__SERVER__LISTEN", address);
    installation.check("address", "problem", "is in use by another program");
    other_program.join().unwrap();

    let installation = Installation::new().await.with("WEBSVC__SERVER__LISTEN", "192.0.2.1:3002");
    let found = &installation.run_doctor().1["address"];
    assert_eq!(found.0, "problem");
    assert!(found.2.contains("an address of this machine"), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn disabled_authentication_on_a_public_address_is_a_problem() {
    let installation = Installation::new()
        .await
        .with("WEBSVC__SERVER__LISTEN", "0.0.0.0:0")
        .with("WEBSVC__AUTH__REQUIRED", "false");
    installation.check("keys", "problem", "but the address is not loopback");
    let installation =
        Installation::new().await.with("WEBSVC__SERVER__LISTEN", "0.0.0.0:0").with("WEBSVC_API_KEY", KEY);
    installation.check("keys", "warning", "unencrypted");
}

#[tokio::test(flavor = "multi_thread")]
async fn certificate_is_checked_with_its_key_and_expiry() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let installation = Installation::new()
        .await
        .with("WEBSVC__SERVER__TLS__CERT", path("cert.pem"))
        .with("WEBSVC__SERVER__TLS__KEY", path("key.pem"));
    installation.check("tls", "problem", "cannot use the certificate");

    let authority = Authority::new();
    let hosts = ["localhost".to_owned()];
    for (until, state, message) in
        [((2020, 2, 29), "problem", "expired on 2020-02-29"), ((4000, 1, 1), "ok", "until 4000-01-01")]
    {
        let (cert, key) = authority.issue_until(&hosts, until);
        std::fs::write(path("cert.pem"), cert).unwrap();
        std::fs::write(path("key.pem"), key).unwrap();
        installation.check("tls", state, message);
    }

    let mut command = installation.site.serve_command();
    command.envs(installation.variables[1..].iter().map(|(name, value)| (name, value)));
    let service = Service::start(&mut command);
    let address = service.address.trim_start_matches("https://").to_owned();
    let installation = installation.with("WEBSVC__SERVER__LISTEN", address);
    installation.check("address", "ok", "and is ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_database_is_a_problem() {
    let installation = Installation::new().await;
    std::fs::write(installation.site.data_dir().join("websvc.db"), "not a database\n".repeat(100)).unwrap();
    installation.check("database", "problem", "is damaged");
    assert_eq!(files(installation.site.data_dir()), ["websvc.db"]);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn data_directory_that_is_a_file_is_a_problem() {
    let installation = Installation::new().await;
    let file = installation.site.data_dir().join("file");
    std::fs::write(&file, "").unwrap();
    let installation = installation.with("WEBSVC_DATA_DIR", file.join("data").display().to_string());
    let (_, findings) = installation.run_doctor();
    assert_eq!(findings["data directory"].0, "problem");
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_are_connected_to_without_a_request() {
    let world = TestWeb::builder().start().await;
    let proxy = ForwardProxy::start(Rules::new(|_| None)).await;
    let unreachable = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let pool = |addresses: &[std::net::SocketAddr]| {
        let urls: Vec<String> =
            addresses.iter().map(|address| format!("'http://user:secret-password@{address}'")).collect();
        format!("[{}]", urls.join(", "))
    };
    let with_pool = |addresses: &[std::net::SocketAddr]| {
        Installation::for_world(&world).with("WEBSVC__PROXY__ENHANCED", pool(addresses))
    };
    with_pool(&[proxy.addr]).check("proxy.enhanced", "ok", "1 of 1");
    let mixed = with_pool(&[proxy.addr, unreachable]);
    mixed.check(
        "proxy.enhanced",
        "warning",
        &format!("1 of 2 reachable; [1] {unreachable}: it cannot be reached"),
    );
    let output = mixed.command(&["doctor"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("secret-password"));
    with_pool(&[unreachable]).check("proxy.enhanced", "problem", "0 of 1");
    assert!(proxy.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_provider_receives_one_query() {
    let page = Page::new("application/json", r#"{"results": [{"u": "http://a.test/", "t": "A"}]}"#);
    let world = TestWeb::builder().page("http://own.test/search?q=web", page).start().await;
    let source = |path: &str| {
        format!(
            "{{ kind = 'http-json', url = 'http://own.test/{path}?q={{query}}', results = '/results', \
             fields = {{ url = '/u', title = '/t' }} }}"
        )
    };
    let with_source = |path: &str| {
        Installation::for_world(&world)
            .with("WEBSVC__SEARCH__PROVIDERS", "['index', 'own']")
            .with("WEBSVC__SEARCH__SOURCES__OWN", source(path))
    };
    with_source("search").check("provider own", "ok", "responds in ");
    assert_eq!(world.requests().len(), 1);
    with_source("missing").check("provider own", "problem", "404");
    Installation::for_world(&world).with("WEBSVC__SEARCH__SOURCES__OWN", source("search")).check(
        "providers",
        "warning",
        "configured but not used: own",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn url_scanner_is_queried() {
    let world = TestWeb::builder()
        .page("http://scanner.test/", Page::new("application/json", r#"{"score": 3}"#))
        .page("http://other.test/", Page::html("<p>a page"))
        .start()
        .await;
    for (url, state, message) in [
        ("http://scanner.test/", "ok", "has the score 3"),
        ("http://other.test/", "problem", "its response cannot be read: not valid JSON"),
        ("http://other.test/missing", "problem", "responded with status 404"),
        ("ftp://other.test/", "problem", "neither http nor https"),
    ] {
        Installation::for_world(&world)
            .with("WEBSVC__THREAT__SCANNER", "http")
            .with("WEBSVC__THREAT__URL", url)
            .check("threat protection", state, message);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_collector_receives_an_empty_batch() {
    let world = TestWeb::builder()
        .page("http://collector.test/v1/traces", Page::new("application/json", "{}"))
        .page("http://full.test/v1/traces", Page::text("no").status(503))
        .start()
        .await;
    for (endpoint, state, message) in [
        ("http://collector.test", "ok", "accepts spans"),
        ("http://full.test/", "warning", "status 503"),
        ("ftp://collector.test", "problem", "not an http or https URL"),
    ] {
        Installation::for_world(&world)
            .with("WEBSVC__TRACES__ENDPOINT", endpoint)
            .check("traces", state, message);
    }
    assert_eq!(world.count("http://collector.test/v1/traces"), 1);
    Installation::for_world(&world).with("WEBSVC_LOG_FORMAT", "xml").check(
        "log",
        "problem",
        "use json or pretty",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_server_is_asked_without_sending_an_email() {
    let rules = SmtpRules { login: Some(("websvc", "pass-of-mail")), ..SmtpRules::default() };
    let server = FakeSmtp::start(rules).await;
    let world = TestWeb::builder().start().await;
    let installation = |port: u16, password: &str| {
        Installation::for_world(&world)
            .with("WEBSVC__SERVER__PUBLIC_URL", "https://alerts.test")
            .with("WEBSVC__MAIL__HOST", "127.0.0.1")
            .with("WEBSVC__MAIL__PORT", port.to_string())
            .with("WEBSVC__MAIL__TLS", "none")
            .with("WEBSVC__MAIL__FROM", "websvc <alerts@tea.test>")
            .with("WEBSVC__MAIL__USER", "websvc")
            .with("WEBSVC__MAIL__PASSWORD", password)
    };
    installation(server.port(), "pass-of-mail").check(
        "mail server",
        "ok",
        "accepts the user name and the password",
    );
    let wrong = installation(server.port(), "wrong-pass");
    wrong.check("mail server", "problem", "did not accept the user name and the password");
    let (_, findings) = wrong.run_doctor();
    assert!(findings["mail server"].2.contains("mail.password"), "{findings:?}");
    assert!(!format!("{findings:?}").contains("wrong-pass"));
    installation(server.port(), "pass-of-mail").with("WEBSVC__MAIL__TLS", "starttls").check(
        "mail server",
        "problem",
        "does not offer STARTTLS",
    );
    installation(1, "pass-of-mail").check("mail server", "problem", "could not connect");
    assert_eq!(server.messages(), []);
    assert!(!Installation::for_world(&world).run_doctor().1.contains_key("mail server"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_tried_with_chromium_and_a_program() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let installation = async |sessions: &str| {
        let installation = Installation::new().await.with("WEBSVC__BROWSER__CONCURRENCY", "2");
        let installation = installation.with("WEBSVC__BROWSER__PATH", chromium.display().to_string());
        installation.with("WEBSVC__INTERACT__MAX_SESSIONS", sessions)
    };
    let (is_ok, findings) = installation("1").await.run_doctor();
    assert!(is_ok, "{findings:#?}");
    assert_eq!(findings["sessions"].0, "ok", "{findings:#?}");
    assert_eq!(findings["session code"].0, "ok", "{findings:#?}");
    assert!(findings["session memory"].1.contains("1 session needs about 200.00 MiB"), "{findings:#?}");
    let many = installation("100").await;
    many.check("session memory", "warning", "100 sessions need about 19.53 GiB");
    let off = installation("0").await;
    off.check("sessions", "ok", "off");
    // A program that is not Chromium.
    let broken = installation("1").await.with("WEBSVC__BROWSER__PATH", "/bin/false");
    broken.check("sessions", "problem", "Chromium does not start");
}
