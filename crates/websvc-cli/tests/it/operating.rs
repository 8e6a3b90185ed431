//! Tests of the command line: printed hints, error messages and JSON output.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::crawl_command::{files, server_args, stdout_and_stderr};
use crate::harness::{KEY, Service, Site, assert_fields, tea_world};

fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[tokio::test(flavor = "multi_thread")]
async fn printed_command_hints_work() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let data = site.data_dir().join("the data");
    let config = site.data_dir().join("websvc.toml");
    std::fs::write(&config, "[cache]\nmax_age_days = 3\n").unwrap();
    let log = site.data_dir().join("log");
    let options = ["--data-dir", data.to_str().unwrap(), "--config", config.to_str().unwrap()];
    let arguments = [&["serve", "--listen", "127.0.0.1:0"][..], &options[..]].concat();
    let service = Service::start_logging(&mut site.command(&arguments), &log);
    let text = std::fs::read_to_string(&log).unwrap();
    let line =
        text.lines().find(|line| line.contains("keys create --admin")).unwrap_or_else(|| panic!("{text}"));
    let line: Value = serde_json::from_str(line).unwrap();
    let command = line["fields"]["command"].as_str().unwrap();
    assert!(command.ends_with(&format!("--config {}", config.display())), "{command}");
    // Runs the hint in a shell without the variables of the service.
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_websvc"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output =
        Command::new("sh").args(["-c", command]).env("PATH", path).env_remove("WEBSVC_DATA_DIR").output();
    let output = output.unwrap();
    let key = String::from_utf8(output.stdout).unwrap();
    assert!(key.starts_with("fc-"), "{}", String::from_utf8_lossy(&output.stderr));
    let body = json!({ "key": key.trim() }).to_string();
    let response = service.post("/dashboard/session", body).await;
    assert_eq!(response.status, 200, "{}", response.body);
    assert!(text.contains(&format!("websvc keys list --data-dir '{}'", data.display())), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_commands_create_no_data_directory() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let missing = site.data_dir().join("mistyped");
    let missing_path = missing.to_str().unwrap();
    for line in [
        "keys list",
        "teams list",
        "usage",
        "index stats",
        "search tea",
        "cache stats",
        "threat show default",
    ] {
        let arguments: Vec<&str> = line.split(' ').chain(["--data-dir", missing_path]).collect();
        let (_, error) = stdout_and_stderr(&site.run(&arguments));
        assert!(
            error.contains(&format!("{missing_path} does not exist")) && error.contains("--data-dir"),
            "{line}: {error}"
        );
        assert!(!missing.exists(), "{line}");
    }
    let service = site.serve();
    let server = ["index", "stats", "--server", &service.address, "--data-dir", missing_path];
    let output = site.command(&server).env("WEBSVC_API_KEY", KEY).output().unwrap();
    assert!(output.status.success() && !missing.exists(), "{}", stdout_and_stderr(&output).1);
}

#[tokio::test(flavor = "multi_thread")]
async fn readme_crawl_example_works_through_a_server() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let line = readme.lines().find(|line| line.contains(" crawl ") && line.contains("--server")).unwrap();
    let line = line.split('#').next().unwrap().trim();
    assert!(line.contains("https://docs.example.org/") && line.contains("--api-key fc-..."), "{line}");
    let line = line.replace("https://docs.example.org/", "http://tea.test/");
    let line = line.replace("http://127.0.0.1:3002", &service.address).replace("fc-...", KEY);
    let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut command = site.command(&arguments);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", stdout_and_stderr(&output).1);
    assert!(files(folder.path()).contains(&"pages/tea.test/green.html.md".to_owned()));

    let keyless: Vec<&str> =
        arguments.iter().copied().filter(|word| !["--api-key", KEY].contains(word)).collect();
    let (_, error) = stdout_and_stderr(&site.command(&keyless).current_dir(folder.path()).output().unwrap());
    assert!(error.contains("--api-key or WEBSVC_API_KEY"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_index_crawl_uses_the_configuration_of_the_server() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let server_args = server_args(&service);
    let server_args: Vec<&str> = server_args.iter().map(String::as_str).collect();
    // This process cannot reach the test web: it has no connect_to rules and no data directory.
    let empty = tempfile::tempdir().unwrap();
    let data = empty.path().join("none");
    let arguments = ["index", "crawl", "http://tea.test/green.html", "--exclude", "oolong|missing", "--json"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_websvc"));
    command.args(arguments).args(server_args).env("WEBSVC_DATA_DIR", &data).stdin(Stdio::null());
    let output = command.output().unwrap();
    let (stdout, stderr) = stdout_and_stderr(&output);
    assert!(output.status.success(), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&report["pages"], &report["interrupted"]), (&json!(2), &json!(false)), "{report}");
    assert!(!data.exists());
    let found = service.search_until_found("seventy degrees").await;
    assert_eq!(found["data"]["web"][0]["url"], json!("http://tea.test/green.html"));
    assert_eq!((world.count("http://tea.test/"), world.count("http://tea.test/oolong.html")), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn index_crawl_applies_path_patterns() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let arguments = [
        "index",
        "crawl",
        "http://tea.test/",
        "--include",
        "/green|/ool",
        "--exclude",
        "ng\\.html$",
        "--json",
    ];
    let report: Value = serde_json::from_str(&site.succeed(&arguments)).unwrap();
    assert_eq!(report["pages"], json!(1), "{report}");
    let (_, error) =
        stdout_and_stderr(&site.run(&["index", "crawl", "http://tea.test/", "--include", "*.html"]));
    assert!(error.contains("includePaths[0] must be a regular expression"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_arguments_and_variables_have_suggestions() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let check = |arguments: &str, variables: &[(&str, &str)], code: i32, expected: &[&str]| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = site.command(&arguments).envs(variables.iter().copied()).output().unwrap();
        let (_, error) = stdout_and_stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {variables:?}: {error}");
        for part in expected {
            assert!(error.contains(part), "{arguments:?} {variables:?}: {part:?} in {error}");
        }
    };
    check("scrape a.test --format markdwon", &[], 2, &["'markdwon'", "'markdown'", "--format"]);
    check("crawl a.test --format html,lnks", &[], 2, &["'lnks'", "'links'"]);
    check("parse a.pdf --format markdwon", &[], 2, &["'markdwon'", "'markdown'"]);
    check(
        "keys create --scope serch",
        &[],
        2,
        &["'serch'", "search, scrape, map, batch, crawl, monitor, interact, agent, index"],
    );
    check("serve --listen 27001", &[], 2, &["127.0.0.1:27001"]);
    check(
        "serve",
        &[("WEBSVC__SERVER__LISTEN", "'27001'")],
        1,
        &["WEBSVC__SERVER__LISTEN: server.listen", "127.0.0.1:27001"],
    );
    check("keys list", &[("WEBSVC_CONFIG", ""), ("WEBSVC_API_KEY", "")], 0, &[]);
    check(
        "keys list",
        &[("WEBSVC__SERVR__LISTEN", "x")],
        1,
        &["WEBSVC__SERVR__LISTEN", "The variable is WEBSVC__SERVER__LISTEN"],
    );
    check("keys list", &[("WEBSVC_DATADIR", "x")], 0, &["WEBSVC_DATADIR has no effect", "WEBSVC_DATA_DIR"]);
    let file = site.data_dir().join("a.toml");
    std::fs::write(&file, "[server]\nlisten = '127.0.0.1:0'\n[fetch]\nallow_networks = ['10.0.0.1/8']\n")
        .unwrap();
    let config = file.to_str().unwrap();
    check(
        "scrape a.test",
        &[("WEBSVC_CONFIG", config)],
        1,
        &[&format!("{config}:4: fetch.allow_networks: ")],
    );
    check("serve", &[("WEBSVC_CONFIG", config)], 1, &[&format!("{config}:4: ")]);
    std::fs::write(&file, "[server]\nlisten = 5\n").unwrap();
    check("keys list", &[("WEBSVC_CONFIG", config)], 1, &[&format!("{config}:2: ")]);
    let broken = site.data_dir().join("broken.pdf");
    std::fs::write(&broken, "%PDF-1.4\nnot the content of a PDF").unwrap();
    let (_, error) = stdout_and_stderr(&site.run(&["parse", broken.to_str().unwrap()]));
    assert_eq!(error.matches("its structure cannot be read").count(), 1, "{error}");
}

#[tokio::test]
async fn commands_print_changes_as_json() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let read = |arguments: &[&str]| -> Value {
        let text = site.succeed(arguments);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
    };
    let created = read(&["keys", "create", "--team", "red", "--scope", "crawl,map", "--name", "x", "--json"]);
    assert!(created["key"].as_str().unwrap().starts_with("fc-"), "{created}");
    assert_fields(&created, &json!({ "team": "red", "name": "x", "scopes": ["map", "crawl"] }));
    let listed = read(&["keys", "list", "--json"]);
    assert_eq!((&listed[0]["id"], &listed[0]["key"]), (&created["id"], &Value::Null));
    let revoked = read(&["keys", "revoke", created["id"].as_str().unwrap(), "--json"]);
    assert_eq!((&revoked["id"], &revoked["state"]), (&created["id"], &json!("revoked")), "{revoked}");
    let secret = read(&["teams", "webhook-secret", "red", "--json"]);
    assert_eq!(secret["secret"], json!(site.succeed(&["teams", "webhook-secret", "red"]).trim()));
    assert_eq!(read(&["threat", "show", "red", "--json"]), json!({}));
    let allowed = read(&["threat", "check", "http://a.test/", "--team", "red", "--json"]);
    assert_eq!(allowed, json!({ "url": "http://a.test/", "allowed": true, "reason": null }));
    assert_eq!(read(&["webhooks", "retry", "--all", "--json"]), json!({ "retried": 0 }));
    assert_eq!(read(&["teams", "delete", "red", "--json"]), json!({ "team": "red", "deleted": true }));
    let scopes = site.succeed(&["keys", "create", "--help"]);
    assert!(
        scopes.contains("search, scrape, map, batch, crawl, monitor, interact, agent, index"),
        "{scopes}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_end_quietly_when_their_output_has_no_reader() {
    let world = tea_world().await;
    let site = Site::new(&world);
    site.succeed(&["scrape", "http://tea.test/green.html"]);
    site.succeed(&["keys", "create", "--team", "default"]);
    for arguments in [
        &["scrape", "http://tea.test/green.html"][..],
        &["search", "tea"],
        &["keys", "list"],
        &["map", "http://tea.test/", "--json"],
        &["batch", "http://tea.test/green.html", "http://tea.test/oolong.html"],
        &["batch", "http://tea.test/green.html", "--jsonl", "-"],
        &["index", "export", "-"],
        &["index", "stats"],
        &["doctor"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = site.command(arguments);
        let output =
            command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        // As for a command that SIGPIPE has ended.
        assert_eq!(output.status.code(), Some(141), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("error"), "{arguments:?}: {stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn command_does_not_wait_for_a_server_that_was_never_there() {
    let world = tea_world().await;
    let site = Site::new(&world);
    // Each attempt is a connection that breaks before anything is sent, as to a server that is not there.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("https://{}", listener.local_addr().unwrap());
    let attempts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&attempts);
    std::thread::spawn(move || {
        for _ in listener.incoming() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    for arguments in [
        &["crawl", "http://tea.test/"][..],
        &["crawl", "--resume", "0"],
        &["batch", "http://tea.test/"],
        &["agent", "tea"],
        &["monitor", "run", "0", "--wait"],
    ] {
        let output = site.run(&[arguments, &["--server", &server]].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        let is_clear = stderr.starts_with(&format!("error: the request to {server}/ failed: "))
            && stderr.ends_with("; check that the server runs and that --server is its address\n");
        assert!(is_clear, "{arguments:?}: {stderr}");
        assert_eq!(attempts.swap(0, Ordering::Relaxed), 1, "{arguments:?}");
    }
}
