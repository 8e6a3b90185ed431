//! Hostile texts in every field: no header, markup or reordering gets into a message, a feed or a payload.

use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;
use websvc_notify::{
    AtomFeed, CheckReport, ConfirmationMail, DiffMode, EmailAddress, FieldChange, Judgment, Mailbox,
    MeaningfulChange, MeaningfulChangeKind, MonitorPageStatus, PageCounts, PageReport, ReportMail,
    slack_payload,
};

use crate::channel::{CHANNELS, message};
use crate::support::{empty_report, read, report, time};

const HOSTILE: &[&str] = &[
    "x\r\nBcc: eve@example.com\r\n\r\nbody",
    "x\nBcc: eve@example.com",
    "x\rBcc: eve@example.com",
    "\u{202e}gnp.exe\u{202c} \u{2066}a\u{2069}\u{200f}\u{200b}\u{feff}",
    "\0\u{1}\u{7}\u{1b}[31m\u{85}\u{2028}\u{2029}\u{fffe}\u{ffff}",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "\"' onmouseover='x' style=\"background:url(//evil.example)",
    "--=_websvc_part--\r\n\r\n--=_websvc_part",
    "=?utf-8?q?=0d=0aBcc:_eve@example.com?=",
    "]]></content></entry><!--",
    "<!channel> <@U1> <https://evil.example|https://bank.example> ``` `x`",
    ".\r\n.\r\nMAIL FROM:<x>",
    "javascript:alert(1)",
    "data:text/html,<script>",
    "https://a.example/\"><script>|x`",
    "ü€😀 مرحبا שלום",
];

/// Returns a report with a text in every field.
fn report_of(text: &str) -> CheckReport {
    let page = |status| PageReport {
        url: text.to_owned(),
        title: Some(text.to_owned()),
        status,
        judgment: Some(Judgment {
            is_meaningful: true,
            reason: text.to_owned(),
            changes: vec![MeaningfulChange {
                kind: MeaningfulChangeKind::Added,
                before: Some(text.to_owned()),
                after: Some(text.to_owned()),
                reason: text.to_owned(),
            }],
        }),
        diff: Some(format!("@@ {text} @@\n+{text}\n-{text}\n")),
        fields: vec![FieldChange {
            path: text.to_owned(),
            previous: json!(text),
            current: json!({ text: [text] }),
        }],
        error: Some(text.to_owned()),
    };
    CheckReport {
        monitor_name: text.to_owned(),
        counts: PageCounts { new: 1, changed: 1, ..PageCounts::default() },
        pages: vec![page(MonitorPageStatus::Changed), page(MonitorPageStatus::New)],
        error: Some(text.to_owned()),
        ..report()
    }
}

fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200b}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        || character.is_control() && character != '\n'
}

/// Checks that HTML consists of the elements and attributes that this crate writes.
fn check_html(html: &str) {
    const ELEMENTS: &[&str] = &[
        "!DOCTYPE", "a", "bdi", "body", "code", "div", "h1", "h2", "head", "html", "li", "meta", "p", "pre",
        "span", "title", "ul",
    ];
    for tag in html.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap();
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        assert!(ELEMENTS.contains(&name), "{tag}");
        assert!(!tag.contains("url(") || tag.starts_with("a href=\""), "{tag}");
        assert!(!text.contains('>'), "{text}");
        // Attributes are `name="value"`, and no value has a quote.
        for attribute in tag[name.len()..].split("\" ") {
            let attribute = attribute.trim_start_matches('/').trim_start();
            let name = attribute.split('=').next().unwrap();
            let allowed = ["", "style", "href", "rel", "lang", "charset", "name", "content", "html"];
            assert!(allowed.contains(&name) || tag.starts_with('/'), "{tag}: {name}");
            if let Some(target) = attribute.strip_prefix("href=\"") {
                assert!(target.starts_with("https://") || target.starts_with("http://"), "{target}");
            }
        }
    }
    assert!(!html.contains(is_invisible), "{html:?}");
}

fn check_mail(text: &str) {
    let report = report_of(text);
    let from =
        Mailbox { name: Some(text.to_owned()), address: EmailAddress::parse("a@websvc.example").unwrap() };
    let to =
        Mailbox { name: Some(text.to_owned()), address: EmailAddress::parse("ada@example.com").unwrap() };
    let mail = ReportMail {
        report: &report,
        from: &from,
        to: &to,
        unsubscribe_url: None,
        diffs: DiffMode::Include,
        date: time(),
    };
    let confirm_url = Url::parse("https://websvc.example/confirm").unwrap();
    let confirmation = ConfirmationMail {
        monitor_name: text,
        from: &from,
        to: &to,
        confirm_url: &confirm_url,
        date: time(),
    };
    for mail in [mail.compose(), confirmation.compose()] {
        assert_eq!(mail.recipient().as_str(), "ada@example.com");
        assert!(!mail.subject().contains(char::is_control) && !mail.subject().contains("=?"));
        let read = read(mail.as_bytes());
        let names: Vec<&str> = read.headers.iter().map(|(name, _)| name.as_str()).collect();
        let expected =
            ["From", "To", "Date", "Subject", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"];
        assert_eq!(names, expected);
        assert!(
            read.header("From").ends_with("<a@websvc.example>") || read.header("From") == "a@websvc.example"
        );
        assert!(!read.plain.contains(is_invisible), "{:?}", read.plain);
        check_html(&read.html);
    }
}

fn check_feed(text: &str) {
    let self_url = Url::parse("https://websvc.example/feed?a=1&b=2").unwrap();
    let feed = AtomFeed {
        monitor_id: Uuid::from_u128(1),
        monitor_name: text,
        updated_at: time(),
        self_url: &self_url,
        dashboard_url: None,
        diffs: DiffMode::Include,
    };
    let xml = feed.write(&[report_of(text)], 1_000_000);
    let mut reader = Reader::from_str(&xml);
    let mut elements = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => elements.push(start.name().as_ref().to_owned()),
            Event::Eof => break,
            Event::Comment(_) | Event::CData(_) | Event::PI(_) | Event::DocType(_) => panic!("{xml}"),
            _ => {}
        }
    }
    let expected = [
        "feed",
        "id",
        "title",
        "updated",
        "author",
        "name",
        "generator",
        "entry",
        "id",
        "title",
        "updated",
        "content",
    ];
    assert_eq!(elements, expected);
    assert!(
        !xml.contains(
            |character: char| character.is_control() && character != '\n' || character == '\u{fffe}'
        )
    );
    let content = xml.split("<content type=\"html\">").nth(1).unwrap().split("</content>").next().unwrap();
    let html =
        content.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    check_html(&html.replace("&amp;", "&"));
}

fn check_channels(text: &str) {
    for url in CHANNELS {
        let message = message(url, &report_of(text));
        let body: Value = serde_json::from_slice(&message.body).unwrap();
        assert!(!message.url.as_str().contains("evil"), "{}", message.url);
        // In Discord, texts of pages are code, or titles without markup.
        for embed in body["embeds"].as_array().into_iter().flatten() {
            let description = embed["description"].as_str().unwrap();
            assert!([0, 6].contains(&description.matches('`').count()), "{description}");
            let title = embed["title"].as_str().unwrap().replace("\\\\", "");
            let unescaped = title.replace("\\[", "").replace("\\]", "").replace("\\(", "").replace("\\@", "");
            assert!(!unescaped.contains(['[', ']', '(', '@']), "{title}");
        }
    }
}

fn check_slack(text: &str) {
    let payload = slack_payload(&report_of(text), DiffMode::Include);
    let blocks = payload["blocks"].as_array().unwrap();
    assert!(blocks.len() <= 50);
    for block in blocks {
        let Value::String(text) = &block["text"]["text"] else { panic!("{block}") };
        let max = if block["type"] == "header" { 150 } else { 3_000 };
        assert!(!text.is_empty() && text.chars().count() <= max, "{text}");
        if block["type"] != "header" {
            // Angle brackets are those of links to web pages.
            for link in text.split('<').skip(1) {
                assert!(link.starts_with("http") && link.contains('|') && link.contains('>'), "{link}");
            }
            assert_eq!(text.matches('<').count(), text.matches('>').count(), "{text}");
            assert!([0, 6].contains(&text.matches('`').count()), "{text}");
        }
    }
    assert!(!payload["text"].as_str().unwrap().contains(['<', '>']));
}

#[test]
fn known_attacks_have_no_effect() {
    for text in HOSTILE {
        check_mail(text);
        check_feed(text);
        check_slack(text);
        check_channels(text);
    }
    check_mail("");
    check_feed("");
    check_slack("");
    check_slack(&"<&>`".repeat(5_000));
    check_mail(&"ü<\u{202e}\r\n".repeat(5_000));
    check_feed(&"&".repeat(20_000));
}

#[test]
fn addresses_cannot_carry_headers_or_commands() {
    for text in HOSTILE {
        assert!(EmailAddress::parse(text).is_err(), "{text}");
        assert!(EmailAddress::parse(&format!("{text}@example.com")).is_err(), "{text}");
        let in_domain = EmailAddress::parse(&format!("ada@{text}.example.com"));
        assert!(in_domain.is_err(), "{in_domain:?}");
    }
}

#[test]
fn message_with_a_hostile_unsubscribe_url_has_no_more_headers() {
    let url = Url::parse("https://websvc.example/u?t=a>\r\nBcc: eve@example.com").unwrap();
    let (from, to) = (Mailbox::parse("a@b.example").unwrap(), Mailbox::parse("c@d.example").unwrap());
    let report = empty_report();
    let diffs = DiffMode::Omit;
    let mail = ReportMail {
        report: &report,
        from: &from,
        to: &to,
        unsubscribe_url: Some(&url),
        diffs,
        date: time(),
    };
    let read = read(mail.compose().as_bytes());
    assert!(read.headers.iter().all(|(name, _)| name != "Bcc"));
    assert_eq!(read.header("List-Unsubscribe").matches('>').count(), 1);
}

fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(HOSTILE).prop_map(str::to_owned),
        any::<String>(),
        "[ \r\n\t=?<>&\"'`|.-]{0,20}",
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_only_text(text in hostile_text()) {
        check_mail(&text);
        check_feed(&text);
        check_slack(&text);
    }

    #[test]
    fn accepted_addresses_are_plain(text in "\\PC{0,20}@?\\PC{0,20}") {
        if let Ok(address) = EmailAddress::parse(&text) {
            let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"<>(),;:\\\"[]".contains(&byte);
            prop_assert!(address.as_str().bytes().all(is_plain), "{address}");
        }
    }
}
