//! Messages for the channels of messaging services.

use http::Method;
use serde_json::{Value, json};
use websvc_notify::{
    ChannelMessage, CheckReport, MonitorPageStatus, PageCounts, PageReport, channel_message,
};
use websvc_validate::Channel;

use crate::support::{empty_report, page, report};

/// URLs of channels of all services.
pub(crate) const CHANNELS: [&str; 9] = [
    "ntfys://tk_1@push.test/tea",
    "gotifys://push.test/A1",
    "discord://12/abc",
    "tgram://12:ab/-100",
    "slack://T1/B2/c3",
    "workflows://prod-1.westeurope.logic.azure.com/flow/sig",
    "matrixs://syt_1@chat.test/!room:chat.test",
    "pover://user@token",
    "jsons://hooks.test/tea",
];

pub(crate) fn message(url: &str, report: &CheckReport) -> ChannelMessage {
    channel_message(&Channel::parse(url).unwrap(), None, report, "id-1").unwrap()
}

fn body(url: &str, report: &CheckReport) -> Value {
    serde_json::from_slice(&message(url, report).body).unwrap()
}

#[test]
fn request_has_the_form_and_the_credentials_of_its_service() {
    for (url, method, endpoint, header) in [
        (CHANNELS[0], Method::POST, "https://push.test/", Some(("authorization", "Bearer tk_1"))),
        (CHANNELS[1], Method::POST, "https://push.test/message", Some(("x-gotify-key", "A1"))),
        (CHANNELS[3], Method::POST, "https://api.telegram.org/bot12:ab/sendMessage", None),
        (
            CHANNELS[6],
            Method::PUT,
            "https://chat.test/_matrix/client/v3/rooms/!room:chat.test/send/m.room.message/id-1",
            Some(("authorization", "Bearer syt_1")),
        ),
    ] {
        let message = message(url, &report());
        assert_eq!((message.method, message.url.as_str()), (method, endpoint));
        let headers: Vec<(&str, &str)> =
            message.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(headers, header.into_iter().collect::<Vec<_>>());
    }
    let token = Channel::parse("ntfys://a%0Ab@push.test/tea").unwrap();
    assert!(channel_message(&token, None, &report(), "id-1").is_none(), "a header has one line");
}

#[test]
fn message_has_the_headline_the_pages_and_a_link() {
    const TITLE: &str = "Prices: 2 pages changed, 1 new, 1 removed, 1 failed";
    const LINK: &str = "https://websvc.example/dashboard#/check/2";
    let ntfy = body(CHANNELS[0], &report());
    assert_eq!(
        (&ntfy["topic"], &ntfy["title"], &ntfy["click"]),
        (&json!("tea"), &json!(TITLE), &json!(LINK))
    );
    assert_eq!(ntfy["tags"], json!(["warning"]), "a page failed");
    let text = ntfy["message"].as_str().unwrap();
    assert!(
        text.contains("Changed: Tea & more\n  https://shop.example/tea") && text.contains("+6 EUR"),
        "{text}"
    );
    let telegram = body(CHANNELS[3], &report());
    assert_eq!(telegram["chat_id"], "-100");
    assert!(telegram["text"].as_str().unwrap().starts_with(&format!("{TITLE}\n\nCheck of 2026-11-25")));
    let discord = body(CHANNELS[2], &report());
    assert_eq!(discord["allowed_mentions"], json!({ "parse": [] }));
    assert_eq!(discord["embeds"][0]["title"], "Changed: Tea & more");
    assert_eq!(discord["embeds"][0]["url"], "https://shop.example/tea");
    let diff = discord["embeds"][0]["description"].as_str().unwrap();
    assert!(diff.starts_with("```diff\n") && diff.contains("\n-5 EUR\n+6 EUR\n"), "{diff}");
    let teams = body(CHANNELS[5], &report());
    let card = &teams["attachments"][0]["content"];
    assert_eq!(card["body"][0]["inlines"][0]["text"], TITLE);
    assert_eq!(card["actions"][0], json!({ "type": "Action.OpenUrl", "title": "All details", "url": LINK }));
    let pushover = body(CHANNELS[7], &report());
    assert_eq!((&pushover["token"], &pushover["user"]), (&json!("token"), &json!("user")));
    assert_eq!(body(CHANNELS[8], &report())["type"], "warning");
    assert_eq!(body(CHANNELS[8], &empty_report())["type"], "info");
}

#[test]
fn messages_stay_within_the_limits_of_their_services() {
    let pages = (0..200).map(|index| PageReport {
        title: Some("*".repeat(5_000)),
        diff: Some(format!("@@ -1 +1 @@\n{}", format!("+{}\n", "ä".repeat(5_000)).repeat(100))),
        error: Some("`".repeat(5_000)),
        ..page(&format!("https://shop.example/{index}?{}", "&".repeat(1_900)), MonitorPageStatus::Changed)
    });
    let counts = PageCounts { changed: 200, ..PageCounts::default() };
    let report = CheckReport { counts, pages: pages.collect(), ..empty_report() };
    let chars = |value: &Value| value.as_str().unwrap().chars().count();
    assert!(body(CHANNELS[0], &report)["message"].as_str().unwrap().len() <= 4_096);
    assert!(chars(&body(CHANNELS[3], &report)["text"]) <= 4_096);
    let pushover = body(CHANNELS[7], &report);
    assert!(chars(&pushover["message"]) <= 1_024 && chars(&pushover["title"]) <= 250);
    let discord = body(CHANNELS[2], &report);
    let embeds = discord["embeds"].as_array().unwrap();
    let total: usize = embeds.iter().map(|embed| chars(&embed["title"]) + chars(&embed["description"])).sum();
    assert!(embeds.len() <= 10 && total <= 6_000, "{} embeds, {total} characters", embeds.len());
    assert!(embeds.iter().all(|embed| chars(&embed["title"]) <= 256));
    assert!(message(CHANNELS[5], &report).body.len() <= 28 * 1024);
    assert!(message(CHANNELS[6], &report).body.len() <= 64 * 1024);
}

#[test]
fn template_is_filled_and_texts_of_pages_are_not_read_as_names() {
    let channel = Channel::parse("jsons://hooks.test/").unwrap();
    let template = json!({
        "text": "{{monitor}}: {{ title }}", "counts": ["{{changed}}", 7, { "error": "{{error}}" }], "open": "{{",
        "link": "<{{url}}>",
    });
    let report = CheckReport { monitor_name: "{{url}}".to_owned(), ..report() };
    let message = channel_message(&channel, template.as_object(), &report, "id-1").unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&message.body).unwrap(),
        json!({
            "text": "{{url}}: {{url}}: 2 pages changed, 1 new, 1 removed, 1 failed",
            "counts": ["2", 7, { "error": "1" }], "open": "{{",
            "link": "<https://websvc.example/dashboard#/check/2>",
        })
    );
}

#[test]
fn report_of_some_statuses_has_their_pages_and_counts_only() {
    let only = report().only(&[MonitorPageStatus::Removed, MonitorPageStatus::Error]);
    let ntfy = body(CHANNELS[0], &only);
    assert_eq!(ntfy["title"], "Prices: 1 page removed, 1 failed");
    let text = ntfy["message"].as_str().unwrap();
    assert!(text.contains("https://shop.example/old") && !text.contains("shop.example/tea"), "{text}");
}
