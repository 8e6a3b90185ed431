//! Content of messages about checks, and of requests to confirm.

use url::Url;
use websvc_notify::{
    CheckReport, CheckStatus, ConfirmationMail, DiffMode, Mailbox, MonitorPageStatus, PageCounts, PageReport,
    ReportMail, headline,
};

use crate::support::{compose, empty_report, page, read, report, sender, time};

#[track_caller]
fn check_headline(status: CheckStatus, counts: PageCounts, expected: &str) {
    assert_eq!(headline(&CheckReport { status, counts, ..empty_report() }), expected);
}

#[test]
fn headline_says_what_changed() {
    let none = PageCounts::default();
    let some = PageCounts { new: 1, changed: 2, same: 7, ..none };
    check_headline(CheckStatus::Completed, some, "Prices: 2 pages changed, 1 new");
    check_headline(CheckStatus::Completed, PageCounts { same: 7, ..none }, "Prices: no changes");
    check_headline(CheckStatus::Partial, PageCounts { error: 1, ..none }, "Prices: 1 page failed");
    check_headline(CheckStatus::Failed, none, "Prices: the check failed");
    check_headline(CheckStatus::Failed, some, "Prices: the check failed after 2 pages changed, 1 new");
    let skipped = "Prices: the check was skipped, because another one was running";
    check_headline(CheckStatus::SkippedOverlap, none, skipped);
    let unnamed = CheckReport { monitor_name: "\u{202e}\n".to_owned(), ..empty_report() };
    assert_eq!(headline(&unnamed), "Monitor: no changes");
}

#[test]
fn headers_are_complete_and_the_same_for_a_repeated_message() {
    let mail = compose(&report(), DiffMode::Include);
    let read = read(mail.as_bytes());
    let names: Vec<&str> = read.headers.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "From",
        "To",
        "Date",
        "Subject",
        "Message-ID",
        "Auto-Submitted",
        "List-Unsubscribe",
        "List-Unsubscribe-Post",
        "MIME-Version",
        "Content-Type",
    ];
    assert_eq!(names, expected);
    assert_eq!(read.header("From"), "websvc <alerts@websvc.example>");
    assert_eq!(read.header("To"), "ada@example.com");
    assert_eq!(read.header("Subject"), "Prices: 2 pages changed, 1 new, 1 removed, 1 failed");
    assert_eq!(read.header("Date"), "Wed, 25 Nov 2026 18:59:22 +0000");
    let unsubscribe = "<https://websvc.example/unsubscribe?token=0123456789abcdef>";
    assert_eq!(read.header("List-Unsubscribe"), unsubscribe);
    assert_eq!(read.header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    assert_eq!(compose(&report(), DiffMode::Include).as_bytes(), mail.as_bytes());
    let id = read.header("Message-ID").to_owned();
    assert!(id.starts_with('<') && id.ends_with("@websvc.example>"), "{id}");
    let (from, to, report) = (sender(), Mailbox::parse("bob@example.com").unwrap(), report());
    let other = ReportMail {
        report: &report,
        from: &from,
        to: &to,
        unsubscribe_url: None,
        diffs: DiffMode::Omit,
        date: time(),
    };
    let other = crate::support::read(other.compose().as_bytes());
    assert_ne!(other.header("Message-ID"), id);
    assert!(other.headers.iter().all(|(name, _)| !name.starts_with("List-")));
}

#[test]
fn plain_text_lists_changes_first_and_shows_diffs() {
    let expected = "\
Prices: 2 pages changed, 1 new, 1 removed, 1 failed

Check of 2026-11-25 18:59 UTC, completed with errors: 2 pages changed, 1 new, 1 removed, 1 failed, 40 unchanged.

Changed: Tea & more
  https://shop.example/tea
  Matters: The price of green tea rose.
  * changed: 5 EUR → 6 EUR (20 % more)

  @@ -1,3 +1,3 @@
   # Tea
   
  -5 EUR
  +6 EUR

Changed: https://shop.example/coffee
  plans[0].price: 7.5 → 8 EUR

New: https://shop.example/new

Removed: https://shop.example/old

Failed: https://gone.example/
  Error: the host was not found

All details: https://websvc.example/dashboard#/check/2

Stop these messages: https://websvc.example/unsubscribe?token=0123456789abcdef";
    assert_eq!(read(compose(&report(), DiffMode::Include).as_bytes()).plain, expected);
    let without = read(compose(&report(), DiffMode::Omit).as_bytes()).plain;
    assert!(!without.contains("+6 EUR") && !without.contains("7.5"), "{without}");
}

#[test]
fn html_has_colored_lines_that_are_readable_in_both_modes() {
    let html = read(compose(&report(), DiffMode::Include).as_bytes()).html;
    for line in ["-5 EUR", "+6 EUR", "@@ -1,3 +1,3 @@", " # Tea"] {
        let element = html.lines().find(|html| html.contains(&format!(">{line}</pre>"))).unwrap();
        assert!(element.contains("background-color:#") && element.contains(";color:#"), "{element}");
    }
    assert!(
        html.contains("<a href=\"https://shop.example/tea\" rel=\"noreferrer\">Tea &amp; more</a>"),
        "{html}"
    );
    let unsubscribe =
        "<a href=\"https://websvc.example/unsubscribe?token=0123456789abcdef\" rel=\"noreferrer\">";
    assert!(html.contains(&format!("{unsubscribe}Stop these messages</a>")), "{html}");
}

#[test]
fn content_is_bounded_and_the_rest_is_counted() {
    let pages = (0..1_000).map(|index| PageReport {
        title: Some("t".repeat(10_000)),
        diff: Some(format!("@@ -1 +1 @@\n{}", format!("+{}\n", "x".repeat(10_000)).repeat(100))),
        ..page(&format!("https://shop.example/{index}"), MonitorPageStatus::Changed)
    });
    let counts = PageCounts { changed: 5_000, ..PageCounts::default() };
    let report = CheckReport { counts, pages: pages.collect(), ..empty_report() };
    let mail = compose(&report, DiffMode::Include);
    assert!(mail.as_bytes().len() < 300_000, "{} bytes", mail.as_bytes().len());
    let plain = read(mail.as_bytes()).plain;
    assert_eq!(plain.matches("\nChanged: ").count(), 20);
    assert_eq!(plain.matches("@@ -1 +1 @@").count(), 5);
    assert!(plain.contains("(61 more lines are not shown)"), "{plain}");
    assert!(plain.contains("The differences of 15 pages are not shown."), "{plain}");
    assert!(plain.contains("And 4980 more pages."), "{plain}");
}

#[test]
fn confirmation_has_the_link_and_the_name_of_the_monitor() {
    let (from, to) = (sender(), Mailbox::parse("ada@example.com").unwrap());
    let confirm_url = Url::parse("https://websvc.example/confirm?token=0123456789abcdef&x=1").unwrap();
    let mail = ConfirmationMail {
        monitor_name: "Prices <b>now</b>",
        from: &from,
        to: &to,
        confirm_url: &confirm_url,
        date: time(),
    };
    let read = read(mail.compose().as_bytes());
    assert_eq!(read.header("Subject"), "Confirm the messages of the monitor \"Prices <b>now</b>\"");
    assert!(
        read.plain.contains("\nhttps://websvc.example/confirm?token=0123456789abcdef&x=1\n"),
        "{}",
        read.plain
    );
    let link =
        "<a href=\"https://websvc.example/confirm?token=0123456789abcdef&amp;x=1\" rel=\"noreferrer\">";
    assert!(read.html.contains(link), "{}", read.html);
    assert!(read.html.contains("&lt;b&gt;now&lt;/b&gt;"));
}
