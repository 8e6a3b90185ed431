//! Refused addresses: callers receive one fixed text, and the log contains the address and the rule.

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::harness::{Service, Site};

#[tokio::test(flavor = "multi_thread")]
async fn refused_address_is_logged_and_not_in_the_response() {
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--zdr", "allowed"]);
    let log = site.data_dir().join("log");
    let mut command = site.serve_command();
    let service = Service::start_logging(&mut command, &log);
    let expected = websvc_transport::REFUSED_ADDRESS;
    for (url, rule) in [
        ("http://10.11.12.13/", "10.0.0.0/8, private use"),
        ("http://[fd00::abcd]/", "fc00::/7, unique local"),
        ("http://169.254.169.254/latest", "169.254.0.0/16, link local, metadata services"),
    ] {
        let response = service.post("/v2/scrape", json!({ "url": url }).to_string()).await;
        assert_eq!((response.status.as_u16(), &response.body["error"]), (403, &json!(expected)), "{url}");
        let lines = log_lines(&std::fs::read_to_string(&log).unwrap());
        let line = lines.iter().find(|line| line["fields"]["rule"] == rule);
        let line = line.unwrap_or_else(|| panic!("{rule} is not in {lines:?}"));
        let address = line["fields"]["address"].as_str().unwrap();
        assert!(url.contains(address) && line["request_id"].is_string(), "{line}");
    }
    let private = json!({ "url": "http://192.168.77.78/", "zeroDataRetention": true });
    assert_eq!(service.post("/v2/scrape", private.to_string()).await.status, 403);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("192.168.0.0/16, private use"), "the rule may be logged: {text}");
    assert!(
        !text.contains("192.168.77.78"),
        "the address of a request under zero data retention is logged: {text}"
    );
}

fn log_lines(log: &str) -> Vec<Value> {
    log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
