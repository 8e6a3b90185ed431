//! Tests of API keys that change while the server runs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use crate::harness::{Site, skip, tea_world};

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_created_listed_and_revoked_while_the_server_runs() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let key = site.succeed(&["keys", "create", "--team", "readers", "--name", "laptop"]);
    assert_eq!(key.lines().count(), 1, "only the key is printed");
    service.key = key.trim().to_owned();
    assert!(service.key.starts_with("fc-"));
    let accepted =
        async |service: &crate::harness::Service| service.search(json!({"query": "tea"})).await.status == 200;
    let deadline = Instant::now() + Duration::from_secs(10);
    while !accepted(&service).await {
        assert!(Instant::now() < deadline, "the new key is not accepted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let listed = site.succeed(&["keys", "list", "--json"]);
    assert!(!listed.contains(&service.key), "the list contains the key");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let row = listed.as_array().unwrap().iter().find(|row| row["team"] == json!("readers")).unwrap();
    assert_eq!(row["name"], json!("laptop"));
    site.succeed(&["keys", "revoke", row["id"].as_str().unwrap()]);
    while accepted(&service).await {
        assert!(Instant::now() < deadline, "the revoked key is still accepted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let invited = site.succeed(&["keys", "invite", "--team", "readers", "--scope", "search", "--json"]);
    let invited: Value = serde_json::from_str(&invited).unwrap();
    assert_eq!(
        (&invited["state"], &invited["link"], &invited["admin"]),
        (&json!("invited"), &Value::Null, &json!(false))
    );
    let body = json!({ "invitation": invited["invitation"] }).to_string();
    service.key = String::new();
    let redeemed = service.post("/v2/keys/redeem", body).await;
    assert_eq!(redeemed.status, 200, "{}", redeemed.body);
    service.key = redeemed.body["data"]["key"].as_str().unwrap().to_owned();
    assert!(accepted(&service).await);
    let link = site
        .command(&["keys", "invite"])
        .env("WEBSVC__SERVER__PUBLIC_URL", "https://web.test/")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&link.stdout).starts_with("https://web.test/#/redeem/fi-"), "{link:?}");
    let too_long = site.run(&["keys", "invite", "--redeem-within", "91d"]);
    assert!(String::from_utf8_lossy(&too_long.stderr).contains("90 days"), "{too_long:?}");
    let unknown = site.run(&["keys", "revoke", "nothing"]);
    assert!(!unknown.status.success());
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("\"nothing\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn first_start_prints_a_key_once() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let start = || {
        let log = site.data_dir().join("stderr.log");
        let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
        let service = crate::harness::Service::start_logging(&mut command, &log);
        (service, log)
    };
    let (mut service, log) = start();
    let text = std::fs::read_to_string(&log).unwrap();
    let key =
        text.split_whitespace().find(|word| word.starts_with("fc-")).expect("the key is printed").to_owned();
    service.key.clone_from(&key);
    assert_eq!(service.search(json!({"query": "tea"})).await.status, 200);
    assert!(service.stop().success());
    let (service, log) = start();
    assert!(!std::fs::read_to_string(log).unwrap().contains("fc-"), "the key is printed again");
    assert!(service.stop().success());
    let database = std::fs::read(site.data_dir().join("websvc.db")).unwrap();
    assert!(
        !database.windows(key.len()).any(|window| window == key.as_bytes()),
        "the database contains the key"
    );
}

/// Returns a command that runs another one in a terminal of its own, and copies its output to stdout; `None` if the machine
/// has no `script` (util-linux).
fn in_terminal(command: &Command) -> Option<Command> {
    Command::new("script").arg("--version").stdout(Stdio::null()).status().ok()?;
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line: Vec<String> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let mut script = Command::new("script");
    script.args(["-qefc", &format!("exec {}", line.join(" ")), "/dev/null"]).env("NO_COLOR", "1");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    Some(script)
}

#[tokio::test(flavor = "multi_thread")]
async fn first_start_in_a_terminal_prints_a_link_that_signs_in_once() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let Some(mut command) = in_terminal(&site.command(&["serve", "--listen", "127.0.0.1:0"])) else {
        return skip("script is not installed");
    };
    let mut service = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    let mut output = BufReader::new(service.stdout.take().unwrap());
    while !text.contains("websvc listening on ") {
        assert_ne!(output.read_line(&mut text).unwrap(), 0, "{text}");
    }
    let word = |start: &str| text.split_whitespace().find(|word| word.starts_with(start)).unwrap().to_owned();
    let (link, key) = (word("http://127.0.0.1:"), word("fc-"));
    let (address, token) = link.split_once("/#/sign-in/").expect("the first address is the link");
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    let sign_in = async |body: Value| {
        let url = format!("{address}/dashboard/session").parse().unwrap();
        let mut request = FetchRequest::post(url, body.to_string());
        request.headers.insert("content-type", "application/json".parse().unwrap());
        client.fetch(request).await.unwrap()
    };
    let first = sign_in(json!({ "link": token })).await;
    assert_eq!(first.status, 200, "{:?}", first.body);
    assert!(first.headers.contains_key("set-cookie"), "{:?}", first.headers);
    let second = sign_in(json!({ "link": token })).await;
    assert_eq!(second.status, 401);
    assert!(String::from_utf8_lossy(&second.body).contains("this link was used"), "{:?}", second.body);
    assert_eq!(sign_in(json!({ "key": key })).await.status, 200, "the key is one of an administrator");
    assert!(text.contains("--sources open") && text.contains("export WEBSVC_API_KEY="), "{text}");
    service.kill().unwrap();
    service.wait().unwrap();
}
