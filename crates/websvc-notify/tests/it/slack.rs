//! Payloads of Slack webhooks.

use serde_json::json;
use websvc_notify::{CheckReport, DiffMode, MonitorPageStatus, PageCounts, PageReport, slack_payload};

use crate::support::{empty_report, page, report};

#[test]
fn payload_has_a_text_and_a_block_per_page() {
    let payload = slack_payload(&report(), DiffMode::Include);
    assert_eq!(payload["text"], "Prices: 2 pages changed, 1 new, 1 removed, 1 failed");
    let blocks = payload["blocks"].as_array().unwrap();
    let heading = json!({"type": "plain_text", "text": payload["text"], "emoji": false});
    assert_eq!(blocks[0], json!({"type": "header", "text": heading}));
    let texts: Vec<&str> = blocks[1..].iter().map(|block| block["text"]["text"].as_str().unwrap()).collect();
    assert_eq!(
        texts[1],
        "*Changed* <https://shop.example/tea|Tea &amp; more>\nhttps://shop.example/tea\n\
         Matters: The price of green tea rose.\n• changed: 5 EUR → 6 EUR (20 % more)"
    );
    assert_eq!(texts[2], "```\n@@ -1,3 +1,3 @@\n # Tea\n \n-5 EUR\n+6 EUR\n```");
    assert_eq!(texts[3], "*Changed* <https://shop.example/coffee|https://shop.example/coffee>");
    assert_eq!(texts[4], "```\nplans[0].price: 7.5 → 8 EUR\n```");
    assert_eq!(*texts.last().unwrap(), "<https://websvc.example/dashboard#/check/2|All details>");
    let without = slack_payload(&report(), DiffMode::Omit).to_string();
    assert!(!without.contains("```"), "{without}");
}

#[test]
fn payload_stays_within_the_limits_of_slack() {
    let pages = (0..200).map(|index| PageReport {
        title: Some("&".repeat(5_000)),
        diff: Some(format!("@@ -1 +1 @@\n{}", format!("+{}\n", "<".repeat(5_000)).repeat(100))),
        error: Some("<".repeat(5_000)),
        ..page(&format!("https://shop.example/{index}?{}", "&".repeat(1_900)), MonitorPageStatus::Changed)
    });
    let counts = PageCounts { changed: 200, ..PageCounts::default() };
    let payload =
        slack_payload(&CheckReport { counts, pages: pages.collect(), ..empty_report() }, DiffMode::Include);
    let blocks = payload["blocks"].as_array().unwrap();
    assert!(blocks.len() <= 50);
    for block in blocks {
        let text = block["text"]["text"].as_str().unwrap();
        assert!(text.chars().count() <= 3_000, "{}", text.chars().count());
        assert!(!text.is_empty());
    }
    let last = blocks.last().unwrap()["text"]["text"].as_str().unwrap();
    assert_eq!(last, "The differences of 15 pages are not shown.\nAnd 180 more pages.");
}
