//! Tests of mail messages: in the Internet message format, and of Outlook.

use websvc_documents::{DocumentKind, Limits, ParsedDocument, parse};

use crate::compound_writer::{Node, compound};

fn read(kind: DocumentKind, bytes: &[u8]) -> ParsedDocument {
    assert_eq!(DocumentKind::detect(bytes, None), Some(kind));
    parse(kind, bytes.to_vec(), &Limits::default()).unwrap()
}

#[test]
fn eml_has_its_headers_its_html_and_its_attachments() {
    let message = "Subject: Lampen =?utf-8?q?f=C3=BCr_M=C3=A4rz?=\r\nFrom: \"Ada\" <ada@tea.test>\r\nTo: bo@tea.test,\r\n cy@tea.test\r\n\
        Date: Tue, 2 Jan 2024 03:04:05 +0100\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"a\"\r\n\r\npreamble\r\n\
        --a\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n\
        Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=\r\n=C3=9Fe vom Hafen\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nPGh0bWw+PGhlYWQ+PHRpdGxlPng8L3RpdGxlPjwvaGVhZD48Ym9keT48cD5HcsO8w59lIHZvbSA8\r\n\
        Yj5IYWZlbjwvYj48L3A+PC9ib2R5PjwvaHRtbD4=\r\n--b--\r\n--a\r\nContent-Type: text/csv\r\n\
        Content-Disposition: attachment; filename*=UTF-8''li%C3%9Fte.csv\r\n\r\na,b\r\n--a--\r\n";
    let parsed = read(DocumentKind::Eml, message.as_bytes());
    assert_eq!(
        parsed.html,
        "<h1>Lampen für März</h1>\n<p><strong>From:</strong> Ada &lt;ada@tea.test&gt;<br><strong>To:</strong> bo@tea.test, cy@tea.test<br>\
         <strong>Date:</strong> Tue, 2 Jan 2024 03:04:05 +0100</p>\n<p>Grüße vom <b>Hafen</b></p>\n\
         <p><strong>Attachments:</strong></p>\n<ul><li>lißte.csv (text/csv, 3 bytes)</li>\n</ul>\n"
    );
    assert_eq!(parsed.metadata.title.as_deref(), Some("Lampen für März"));
    assert_eq!(parsed.metadata.author.as_deref(), Some("Ada <ada@tea.test>"));
    assert_eq!(parsed.metadata.created.as_deref(), Some("2024-01-02T03:04:05+01:00"));
}

#[test]
fn eml_plain_text_has_quotes_and_is_kept_if_the_html_lacks_words() {
    let head = "From: a@tea.test\nTo: b@tea.test\nSubject: S\n";
    let plain = format!("{head}\nYes.\n\n> No?\n> Or?\n");
    let html = read(DocumentKind::Eml, plain.as_bytes()).html;
    assert!(html.ends_with("<p>Yes.</p>\n<blockquote><p>No?<br>Or?</p>\n</blockquote>\n"), "{html}");
    let stub = format!(
        "{head}Content-Type: multipart/alternative; boundary=b\n\n--b\n\nThe harbour opens at nine.\n--b\nContent-Type: text/html\n\n\
         <p>View in browser</p>\n--b--"
    );
    let html = read(DocumentKind::Eml, stub.as_bytes()).html;
    assert!(html.contains("harbour opens") && !html.contains("browser"), "{html}");
}

#[test]
fn eml_has_its_own_images_and_the_messages_in_it() {
    let message = "From: a@tea.test\nTo: b@tea.test\nSubject: Outer\nContent-Type: multipart/related; boundary=r\n\n\
        --r\nContent-Type: text/html\n\n<img src=\"cid:pic\" alt=\"cup\">\n--r\nContent-Type: image/png; name=a.png\nContent-ID: <pic>\n\
        Content-Transfer-Encoding: base64\n\niVBORw0KGgo=\n--r\nContent-Type: message/rfc822\n\nSubject: Inner\nFrom: c@tea.test\n\nOld text\n--r--\n";
    let html = read(DocumentKind::Eml, message.as_bytes()).html;
    assert!(html.contains("<img src=\"data:image/png;base64,iVBORw0KGgo=\" alt=\"cup\">"), "{html}");
    assert!(
        html.ends_with("<hr>\n<h2>Inner</h2>\n<p><strong>From:</strong> c@tea.test</p>\n<p>Old text</p>\n"),
        "{html}"
    );
}

#[test]
fn eml_of_nested_parts_is_bounded() {
    let part = "Content-Type: multipart/mixed; boundary=a\n\n--a\n";
    let deep = format!("From: a\nTo: b\nSubject: c\n{}text", part.repeat(10_000));
    let _ = read(DocumentKind::Eml, deep.as_bytes());
    let message = "Content-Type: message/rfc822\n\n";
    let deep = format!("From: a\nTo: b\nSubject: c\n{}text", message.repeat(10_000));
    let _ = read(DocumentKind::Eml, deep.as_bytes());
}

/// Returns a stream of a text property.
fn text(tag: &str, text: &str) -> Node {
    let units = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    Node::Stream(format!("__substg1.0_{tag}001F"), units)
}

#[test]
fn msg_has_its_properties_its_text_and_its_attachments() {
    let mut properties = vec![0; 32];
    properties.extend([0x40, 0, 0x39, 0, 6, 0, 0, 0]);
    // 2024-01-02T03:04:05Z in 100 nanoseconds since 1601.
    properties.extend(133_486_382_450_000_000_u64.to_le_bytes());
    let attachment = vec![
        text("3707", "list.csv"),
        text("370E", "text/csv"),
        Node::Stream("__substg1.0_37010102".to_owned(), b"a,b".to_vec()),
    ];
    let bytes = compound(vec![
        Node::Stream("__properties_version1.0".to_owned(), properties),
        text("0037", "Lampen für März"),
        text("0C1A", "Ada"),
        text("5D01", "ada@tea.test"),
        text("0E04", "bo@tea.test"),
        text("1000", "The harbour opens.\r\n\r\nAda"),
        Node::Stream(
            "__substg1.0_10130102".to_owned(),
            b"<html><body><p>The <b>harbour</b> opens.</p><p>Ada</p></body></html>".to_vec(),
        ),
        Node::Storage("__attach_version1.0_#00000000", attachment),
    ]);
    let parsed = read(DocumentKind::Msg, &bytes);
    assert_eq!(
        parsed.html,
        "<h1>Lampen für März</h1>\n<p><strong>From:</strong> Ada &lt;ada@tea.test&gt;<br><strong>To:</strong> bo@tea.test<br>\
         <strong>Date:</strong> 2024-01-02 03:04:05 UTC</p>\n<p>The <b>harbour</b> opens.</p><p>Ada</p>\
         <p><strong>Attachments:</strong></p>\n<ul><li>list.csv (text/csv, 3 bytes)</li>\n</ul>\n"
    );
    assert_eq!(parsed.metadata.created.as_deref(), Some("2024-01-02T03:04:05Z"));
}

#[test]
fn damaged_msg_does_not_panic() {
    let bytes = compound(vec![
        text("0037", "Subject"),
        Node::Stream("__properties_version1.0".to_owned(), vec![0; 64]),
    ]);
    for at in (8..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] = !damaged[at];
        let _ = parse(DocumentKind::Msg, damaged, &Limits::default());
        let _ = parse(DocumentKind::Msg, bytes[..at].to_vec(), &Limits::default());
    }
}
