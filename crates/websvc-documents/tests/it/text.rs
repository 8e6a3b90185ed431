//! Tests of RTF and CSV.

use websvc_documents::{DocumentKind, Limits, parse};

fn html(kind: DocumentKind, text: &str) -> String {
    parse(kind, text.as_bytes().to_vec(), &Limits::default()).unwrap().html
}

#[test]
fn rtf_is_read_with_styles_links_tables_and_its_code_page() {
    let text = r#"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0 Arial;}}{\info{\title Tea}{\author Ada}}
\pard\outlinelevel0 Green tea\par
\pard{\b Steep} it\~now \'cf\u8364?\par
{\field{\*\fldinst HYPERLINK "https://tea.test/"}{\fldrslt More}}\par
{\listtext\bullet\tab}Boil\par
\trowd One\cell Two\cell\row
{\*\unknown secret}End\par}"#;
    let parsed = parse(DocumentKind::Rtf, text.as_bytes().to_vec(), &Limits::default()).unwrap();
    assert_eq!(
        parsed.html,
        "<h1>Green tea</h1>\n<p><strong>Steep</strong> it now П€</p>\n\
         <p><a href=\"https://tea.test/\">More</a></p>\n<ul><li>Boil</li></ul>\n\
         <table>\n<tr><th>One</th><th>Two</th></tr>\n</table>\n<p>End</p>\n"
    );
    assert_eq!(parsed.metadata.title.as_deref(), Some("Tea"));
    assert_eq!(parsed.metadata.author.as_deref(), Some("Ada"));
}

#[test]
fn csv_becomes_one_table() {
    assert_eq!(
        html(DocumentKind::Csv, "tea;note\n\"Assam\";\"strong; <malty>\"\n"),
        "<table>\n<tr><th>tea</th><th>note</th></tr>\n<tr><td>Assam</td><td>strong; &lt;malty&gt;</td></tr>\n</table>\n"
    );
}

#[test]
fn csv_in_windows_1252_is_decoded() {
    let parsed = parse(DocumentKind::Csv, b"caf\xe9,th\xe9\n".to_vec(), &Limits::default()).unwrap();
    assert!(parsed.html.contains("café") && parsed.html.contains("thé"), "{}", parsed.html);
}

#[test]
fn csv_beyond_the_output_limit_is_cut_off_between_rows() {
    let text = "a,b\n".repeat(10_000);
    let limits = Limits { max_output_bytes: 5000, ..Limits::default() };
    let parsed = parse(DocumentKind::Csv, text.into_bytes(), &limits).unwrap();
    assert!(parsed.html.len() <= 5000 && parsed.html.ends_with("</tr>\n</table>\n"));
    assert_eq!(parsed.warnings.len(), 1);
}
