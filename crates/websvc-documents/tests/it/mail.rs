//! Tests of mail messages: in the Internet message format, and of Outlook.

use websvc_documents::{DocumentKind, Limits, ParsedDocument, parse};

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

/// A storage of a compound file with its children, or a stream with its content.
enum Node {
    Storage(&'static str, Vec<Node>),
    Stream(String, Vec<u8>),
}

/// Returns a stream of a text property.
fn text(tag: &str, text: &str) -> Node {
    let units = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    Node::Stream(format!("__substg1.0_{tag}001F"), units)
}

/// An entry of the directory: name, type, first child, next sibling, first sector, size.
struct Entry(String, u8, u32, u32, u32, usize);

/// Returns a compound file of these nodes, without small sectors.
fn compound(nodes: Vec<Node>) -> Vec<u8> {
    const NONE: u32 = 0xffff_ffff;
    let (mut entries, mut content) = (vec![Entry("Root Entry".to_owned(), 5, NONE, NONE, 0, 0)], Vec::new());
    entries[0].2 = add(nodes, &mut entries, &mut content);
    let directory_sectors = entries.len().div_ceil(4);
    let first = 1 + directory_sectors;
    let mut table: Vec<u32> = vec![0xffff_fffd];
    table.extend((1..first).map(|sector| if sector + 1 < first { sector as u32 + 1 } else { 0xffff_fffe }));
    let mut directory = Vec::new();
    for entry in &mut entries {
        if entry.1 == 2 {
            let sectors = entry.5.div_ceil(512).max(1);
            let start = first + entry.4 as usize;
            entry.4 = start as u32;
            table
                .extend((1..=sectors).map(|at| if at < sectors { (start + at) as u32 } else { 0xffff_fffe }));
        }
        let mut bytes: Vec<u8> = entry.0.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let length = u16::try_from(bytes.len()).unwrap() + 2;
        bytes.resize(64, 0);
        bytes.extend(length.to_le_bytes());
        bytes.extend([entry.1, 1]);
        [NONE, entry.3, entry.2].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.resize(116, 0);
        bytes.extend(entry.4.to_le_bytes());
        bytes.extend((entry.5 as u64).to_le_bytes());
        directory.extend(bytes);
    }
    directory.resize(directory_sectors * 512, 0);
    table.resize(128, NONE);
    let mut file = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    file.resize(512, 0);
    file[30] = 9;
    file[48..52].copy_from_slice(&1_u32.to_le_bytes());
    file[60..64].copy_from_slice(&0xffff_fffe_u32.to_le_bytes());
    file[68..72].copy_from_slice(&0xffff_fffe_u32.to_le_bytes());
    file[80..512].fill(0xff);
    file.extend(table.iter().flat_map(|number| number.to_le_bytes()));
    file.extend(directory);
    file.extend(content);
    file
}

/// Adds nodes to the directory, and returns the number of the first one.
fn add(nodes: Vec<Node>, entries: &mut Vec<Entry>, content: &mut Vec<u8>) -> u32 {
    let mut next = 0xffff_ffff;
    for node in nodes.into_iter().rev() {
        let entry = match node {
            Node::Storage(name, children) => {
                let child = add(children, entries, content);
                Entry(name.to_owned(), 1, child, next, 0, 0)
            }
            Node::Stream(name, bytes) => {
                let (start, size) = (content.len() / 512, bytes.len());
                content.extend(bytes);
                content.resize((content.len().div_ceil(512)).max(start + 1) * 512, 0);
                Entry(name, 2, 0xffff_ffff, next, start as u32, size)
            }
        };
        next = entries.len() as u32;
        entries.push(entry);
    }
    next
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
