//! The command line as operators and newcomers meet it: hints that fit, errors that say what to do, JSON for programs.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::crawl_command::{at, files, said};
use crate::harness::{KEY, Service, Site, tea_world};

fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[tokio::test(flavor = "multi_thread")]
async fn hints_of_a_service_work_as_they_are_printed() {
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
    // As a person does who pastes it into a shell that has none of the variables.
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_websvc"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let pasted =
        Command::new("sh").args(["-c", command]).env("PATH", path).env_remove("WEBSVC_DATA_DIR").output();
    let pasted = pasted.unwrap();
    let key = String::from_utf8(pasted.stdout).unwrap();
    assert!(key.starts_with("fc-"), "{}", String::from_utf8_lossy(&pasted.stderr));
    let signed_in = json!({ "key": key.trim() }).to_string();
    let answer = service.post("/dashboard/session", signed_in).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(text.contains(&format!("websvc keys list --data-dir '{}'", data.display())), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_only_read_make_no_data_directory() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let missing = site.data_dir().join("mistyped");
    let named = missing.to_str().unwrap();
    for line in [
        "keys list",
        "teams list",
        "usage",
        "index stats",
        "search tea",
        "cache stats",
        "threat show default",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--data-dir", named]).collect();
        let (_, error) = said(&site.run(&words));
        assert!(
            error.contains(&format!("{named} does not exist")) && error.contains("--data-dir"),
            "{line}: {error}"
        );
        assert!(!missing.exists(), "{line}");
    }
    let service = site.serve();
    let server = ["index", "stats", "--server", &service.address, "--data-dir", named];
    let output = site.command(&server).env("WEBSVC_API_KEY", KEY).output().unwrap();
    assert!(output.status.success() && !missing.exists(), "{}", said(&output).1);
}

#[tokio::test(flavor = "multi_thread")]
async fn example_of_the_readme_crawls_through_a_server() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let line = readme.lines().find(|line| line.contains(" crawl ") && line.contains("--server")).unwrap();
    let line = line.split('#').next().unwrap().trim();
    assert!(line.contains("https://docs.example.org/") && line.contains("--api-key fc-..."), "{line}");
    let line = line.replace("https://docs.example.org/", "http://tea.test/");
    let line = line.replace("http://127.0.0.1:3002", &service.address).replace("fc-...", KEY);
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut command = site.command(&words);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output).1);
    assert!(files(folder.path()).contains(&"pages/tea.test/green.html.md".to_owned()));

    let keyless: Vec<&str> =
        words.iter().copied().filter(|word| !["--api-key", KEY].contains(word)).collect();
    let (_, error) = said(&site.command(&keyless).current_dir(folder.path()).output().unwrap());
    assert!(error.contains("--api-key or WEBSVC_API_KEY"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_crawls_into_its_index_by_its_own_configuration() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = site.serve();
    let at = at(&service);
    let at: Vec<&str> = at.iter().map(String::as_str).collect();
    // This process reaches nothing of the world: it has no connect_to and no data directory.
    let nowhere = tempfile::tempdir().unwrap();
    let data = nowhere.path().join("none");
    let words = ["index", "crawl", "http://tea.test/green.html", "--exclude", "oolong|missing", "--json"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_websvc"));
    command.args(words).args(at).env("WEBSVC_DATA_DIR", &data).stdin(Stdio::null());
    let output = command.output().unwrap();
    let (stdout, stderr) = said(&output);
    assert!(output.status.success(), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&report["pages"], &report["interrupted"]), (&json!(2), &json!(false)), "{report}");
    assert!(!data.exists());
    let found = service.search_until_found("seventy degrees").await;
    assert_eq!(found["data"]["web"][0]["url"], json!("http://tea.test/green.html"));
    assert_eq!((world.count("http://tea.test/"), world.count("http://tea.test/oolong.html")), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_mean_the_same_here_and_at_a_server() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let words = [
        "index",
        "crawl",
        "http://tea.test/",
        "--include",
        "/green|/ool",
        "--exclude",
        "ng\\.html$",
        "--json",
    ];
    let here: Value = serde_json::from_str(&site.succeed(&words)).unwrap();
    assert_eq!(here["pages"], json!(1), "{here}");
    let (_, error) = said(&site.run(&["index", "crawl", "http://tea.test/", "--include", "*.html"]));
    assert!(error.contains("includePaths[0] must be a regular expression"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_arguments_and_variables_are_named_with_what_was_meant() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let check = |words: &str, variables: &[(&str, &str)], code: i32, expected: &[&str]| {
        let words: Vec<&str> = words.split(' ').collect();
        let output = site.command(&words).envs(variables.iter().copied()).output().unwrap();
        let (_, error) = said(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?} {variables:?}: {error}");
        for part in expected {
            assert!(error.contains(part), "{words:?} {variables:?}: {part:?} in {error}");
        }
    };
    check("scrape a.test --format markdwon", &[], 2, &["'markdwon'", "'markdown'", "--format"]);
    check("crawl a.test --format html,lnks", &[], 2, &["'lnks'", "'links'"]);
    check("parse a.pdf --format markdwon", &[], 2, &["'markdwon'", "'markdown'"]);
    check("keys create --scope serch", &[], 2, &["'serch'", "search, scrape, map, batch, crawl, index"]);
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
        &["WEBSVC__SERVR__LISTEN", "variable is WEBSVC__SERVER__LISTEN"],
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
    std::fs::write(&broken, "%PDF-1.4\nnothing of a PDF follows").unwrap();
    let (_, error) = said(&site.run(&["parse", broken.to_str().unwrap()]));
    assert_eq!(error.matches("it has no readable structure").count(), 1, "{error}");
}

#[tokio::test]
async fn programs_read_what_commands_changed() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let read = |words: &[&str]| -> Value {
        let text = site.succeed(words);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words:?}: {error}: {text}"))
    };
    let made = read(&["keys", "create", "--team", "red", "--scope", "crawl,map", "--name", "x", "--json"]);
    assert!(made["key"].as_str().unwrap().starts_with("fc-"), "{made}");
    assert_eq!(
        (&made["team"], &made["name"], &made["scopes"]),
        (&json!("red"), &json!("x"), &json!(["map", "crawl"]))
    );
    let listed = read(&["keys", "list", "--json"]);
    assert_eq!((&listed[0]["id"], &listed[0]["key"]), (&made["id"], &Value::Null));
    let revoked = read(&["keys", "revoke", made["id"].as_str().unwrap(), "--json"]);
    assert_eq!((&revoked["id"], &revoked["state"]), (&made["id"], &json!("revoked")), "{revoked}");
    let secret = read(&["teams", "webhook-secret", "red", "--json"]);
    assert_eq!(secret["secret"], json!(site.succeed(&["teams", "webhook-secret", "red"]).trim()));
    assert_eq!(read(&["threat", "show", "red", "--json"]), json!({}));
    let allowed = read(&["threat", "check", "http://a.test/", "--team", "red", "--json"]);
    assert_eq!(allowed, json!({ "url": "http://a.test/", "allowed": true, "reason": null }));
    assert_eq!(read(&["webhooks", "retry", "--all", "--json"]), json!({ "retried": 0 }));
    assert_eq!(read(&["teams", "delete", "red", "--json"]), json!({ "team": "red", "deleted": true }));
    let scopes = site.succeed(&["keys", "create", "--help"]);
    assert!(scopes.contains("search, scrape, map, batch, crawl, index"), "{scopes}");
}
