//! `websvc doctor`: what it finds in installations that are sound and in those that are not.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use websvc_testkit::{Authority, ForwardProxy, Page, Rules, TestWeb};

use crate::harness::{KEY, Service, Site, tea_world};

/// An installation, and what the doctor is told beside it.
struct Case {
    site: Site,
    variables: Vec<(&'static str, String)>,
}

/// Findings of the doctor by the name of the check: state, message, advice.
type Findings = BTreeMap<String, (String, String, String)>;

impl Case {
    async fn new() -> Self {
        Self::of(&TestWeb::builder().start().await)
    }

    fn of(world: &TestWeb) -> Self {
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

    /// Runs the doctor, and returns whether it is content and what it found.
    fn examine(&self) -> (bool, Findings) {
        let output = self.command(&["doctor", "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let findings: Findings = answer["checks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| {
                let said = (text(finding, "state"), text(finding, "message"), text(finding, "advice"));
                (text(finding, "check"), said)
            })
            .collect();
        for (check, (state, message, advice)) in &findings {
            assert_eq!(state == "ok", advice.is_empty(), "{check}: {message}: advice {advice:?}");
        }
        let is_content = !findings.values().any(|(state, ..)| state == "problem");
        assert_eq!(answer["ok"], is_content);
        assert_eq!(output.status.success(), is_content, "{findings:?}");
        (is_content, findings)
    }

    /// Asserts the state of one check, a part of its message, and that it alone decides.
    fn check(&self, check: &str, state: &str, message: &str) {
        let (is_content, findings) = self.examine();
        let found = &findings[check];
        assert_eq!(found.0, state, "{found:?}");
        assert!(found.1.contains(message), "{found:?}");
        assert_eq!(is_content, state != "problem", "{findings:#?}");
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
async fn a_fresh_machine_is_sound_and_nothing_is_left_on_it() {
    let case = Case::new().await;
    let (is_content, findings) = case.examine();
    assert!(is_content, "{findings:#?}");
    let expected = [
        "address",
        "browser",
        "clock",
        "configuration",
        "data directory",
        "database",
        "disk",
        "documents",
        "index",
        "keys",
        "log",
        "memory",
        "names",
        "open files",
        "recognition",
        "values",
    ];
    let checks: Vec<&str> = findings.keys().map(String::as_str).collect();
    if cfg!(target_os = "linux") {
        assert_eq!(checks, expected);
    }
    assert_eq!(findings["documents"].0, "ok");
    assert!(files(case.site.data_dir()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn people_read_a_line_for_each_check_with_what_to_do_below() {
    let case = Case::new().await.with("WEBSVC__PROXY__BASIC", "['ftp://127.0.0.1']");
    let output = case.command(&["doctor"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("problem  values")).unwrap();
    assert!(lines[at].contains("proxy.basic[0]"), "{text}");
    assert!(lines[at + 1].trim_start().starts_with("-> correct the key"), "{text}");
    assert!(lines.last().unwrap().starts_with("2 problems, "), "{text}");
    assert!(text.contains("problem  proxy.basic "), "{text}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: 2 problems\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_judged_before_what_depends_on_it() {
    let case = Case::new().await.with("WEBSVC__SERVER__LISEN", "x");
    case.check("configuration", "problem", "`server.lisen`, did you mean `listen`?");
    assert!(!case.examine().1.contains_key("address"));

    let case = Case::new().await.with("WEBSVC__STORE__URL", "m");
    case.check("configuration", "warning", "without effect: `store`");

    let case = Case::new().await.with("WEBSVC_CONFIG", "/no/such/websvc.toml");
    case.check("configuration", "problem", "/no/such/websvc.toml");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installation_in_use_is_looked_at_beside_its_server() {
    let world = tea_world().await;
    let case = Case::of(&world);
    case.site.succeed(&["index", "crawl", "http://tea.test/", "--limit", "2"]);
    case.site.succeed(&["keys", "create"]);
    let (is_content, findings) = case.examine();
    assert!(is_content, "{findings:#?}");
    assert!(findings["database"].1.starts_with("sound, version "), "{findings:#?}");
    assert!(findings["index"].1.starts_with("2 documents, "), "{findings:#?}");
    assert_eq!(findings["keys"].1, "1 stored");

    let service = case.site.serve();
    let address = service.address.trim_start_matches("http://").to_owned();
    let case = Case { variables: vec![("WEBSVC__SERVER__LISTEN", address)], ..case };
    case.check("address", "ok", "and is ready");
    assert_eq!(service.get("/ready").await.status, 200);
    assert!(service.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_another_program_has_is_a_problem() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // It takes the question and hangs up.
    let stranger = std::thread::spawn(move || drop(listener.accept()));
    let case = Case::new().await.with("WEBSVC__SERVER__LISTEN", address);
    case.check("address", "problem", "is taken by another program");
    stranger.join().unwrap();

    let case = Case::new().await.with("WEBSVC__SERVER__LISTEN", "192.0.2.1:3002");
    let found = &case.examine().1["address"];
    assert_eq!(found.0, "problem");
    assert!(found.2.contains("an address of this machine"), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_door_that_is_open_is_a_problem() {
    let case =
        Case::new().await.with("WEBSVC__SERVER__LISTEN", "0.0.0.0:0").with("WEBSVC__AUTH__REQUIRED", "false");
    case.check("keys", "problem", "others can reach the address");
    let case = Case::new().await.with("WEBSVC__SERVER__LISTEN", "0.0.0.0:0").with("WEBSVC_API_KEY", KEY);
    case.check("keys", "warning", "unencrypted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_read_with_its_key_and_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let case = Case::new()
        .await
        .with("WEBSVC__SERVER__TLS__CERT", path("cert.pem"))
        .with("WEBSVC__SERVER__TLS__KEY", path("key.pem"));
    case.check("tls", "problem", "cannot use the certificate");

    let authority = Authority::new();
    let hosts = ["localhost".to_owned()];
    for (until, state, message) in
        [((2020, 2, 29), "problem", "ended on 2020-02-29"), ((4000, 1, 1), "ok", "until 4000-01-01")]
    {
        let (cert, key) = authority.issue_until(&hosts, until);
        std::fs::write(path("cert.pem"), cert).unwrap();
        std::fs::write(path("key.pem"), key).unwrap();
        case.check("tls", state, message);
    }

    let mut command = case.site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.envs(case.variables[1..].iter().map(|(name, value)| (name, value))).env("WEBSVC_API_KEY", KEY);
    let service = Service::start(&mut command);
    let address = service.address.trim_start_matches("https://").to_owned();
    let case = case.with("WEBSVC__SERVER__LISTEN", address);
    case.check("address", "ok", "and is ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_and_a_damaged_one_are_problems() {
    let case = Case::new().await;
    std::fs::write(case.site.data_dir().join("websvc.db"), "no database at all\n".repeat(100)).unwrap();
    case.check("database", "problem", "is damaged");
    assert_eq!(files(case.site.data_dir()), ["websvc.db"]);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_data_directory_that_is_no_directory_is_a_problem() {
    let case = Case::new().await;
    let file = case.site.data_dir().join("file");
    std::fs::write(&file, "").unwrap();
    let case = case.with("WEBSVC_DATA_DIR", file.join("data").display().to_string());
    let (_, findings) = case.examine();
    assert_eq!(findings["data directory"].0, "problem");
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_are_connected_to_and_asked_for_nothing() {
    let world = TestWeb::builder().start().await;
    let proxy = ForwardProxy::start(Rules::new(|_| None)).await;
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let pool = |addresses: &[std::net::SocketAddr]| {
        let urls: Vec<String> =
            addresses.iter().map(|address| format!("'http://user:secret-password@{address}'")).collect();
        format!("[{}]", urls.join(", "))
    };
    let of = |addresses: &[std::net::SocketAddr]| {
        Case::of(&world).with("WEBSVC__PROXY__ENHANCED", pool(addresses))
    };
    of(&[proxy.addr]).check("proxy.enhanced", "ok", "1 of 1");
    let some = of(&[proxy.addr, gone]);
    some.check(
        "proxy.enhanced",
        "warning",
        &format!("1 of 2 can be connected to; [1] {gone}: it cannot be reached"),
    );
    let said = some.command(&["doctor"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&said.stdout).contains("secret-password"));
    of(&[gone]).check("proxy.enhanced", "problem", "0 of 1");
    assert!(proxy.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn providers_are_asked_one_question() {
    let page = Page::new("application/json", r#"{"results": [{"u": "http://a.test/", "t": "A"}]}"#);
    let world = TestWeb::builder().page("http://own.test/search?q=web", page).start().await;
    let source = |path: &str| {
        format!(
            "{{ kind = 'http-json', url = 'http://own.test/{path}?q={{query}}', results = '/results', \
             fields = {{ url = '/u', title = '/t' }} }}"
        )
    };
    let of = |path: &str| {
        Case::of(&world)
            .with("WEBSVC__SEARCH__PROVIDERS", "['index', 'own']")
            .with("WEBSVC__SEARCH__SOURCES__OWN", source(path))
    };
    of("search").check("provider own", "ok", "answers in ");
    assert_eq!(world.requests().len(), 1);
    of("elsewhere").check("provider own", "problem", "404");
    Case::of(&world).with("WEBSVC__SEARCH__SOURCES__OWN", source("search")).check(
        "providers",
        "warning",
        "described and not used: own",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scanner_of_urls_is_asked() {
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
        let variables =
            vec![("WEBSVC__THREAT__SCANNER", "http".to_owned()), ("WEBSVC__THREAT__URL", url.to_owned())];
        Case { variables, ..Case::of(&world) }.check("threat protection", state, message);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_collector_of_traces_is_sent_a_batch_without_spans() {
    let world = TestWeb::builder()
        .page("http://collector.test/v1/traces", Page::new("application/json", "{}"))
        .page("http://full.test/v1/traces", Page::text("no").status(503))
        .start()
        .await;
    for (endpoint, state, message) in [
        ("http://collector.test", "ok", "takes spans"),
        ("http://full.test/", "warning", "status 503"),
        ("ftp://collector.test", "problem", "neither http nor https"),
    ] {
        Case::of(&world).with("WEBSVC__TRACES__ENDPOINT", endpoint).check("traces", state, message);
    }
    assert_eq!(world.count("http://collector.test/v1/traces"), 1);
    Case::of(&world).with("WEBSVC_LOG_FORMAT", "xml").check("log", "problem", "use json or pretty");
}
