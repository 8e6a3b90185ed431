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
         <table role=\"table\">\n<tr><th>One</th><th>Two</th></tr>\n</table>\n<p>End</p>\n"
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

#[test]
fn csv_in_utf_16_and_with_a_stated_separator_is_read() {
    let wide: Vec<u8> = [0xfeff]
        .into_iter()
        .chain("tea;note\r\nAssam;\"a\nb\"".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(DocumentKind::detect(&wide, Some("text/csv")), Some(DocumentKind::Csv));
    assert_eq!(
        parse(DocumentKind::Csv, wide, &Limits::default()).unwrap().html,
        "<table>\n<tr><th>tea</th><th>note</th></tr>\n<tr><td>Assam</td><td>a<br>b</td></tr>\n</table>\n"
    );
    let table = |first: &str, second: &str| {
        format!("<table role=\"table\">\n<tr><th>{first}</th></tr>\n<tr><td>{second}</td></tr>\n</table>\n")
    };
    assert_eq!(html(DocumentKind::Csv, "sep=|\r\na,b\r\nc,d"), table("a,b", "c,d"));
    assert_eq!(html(DocumentKind::Csv, "name\nDoe, Jane\n"), table("name", "Doe, Jane"));
}

#[test]
fn rtf_headings_lists_and_notes_are_read() {
    let text = r"{\rtf1\ansi\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fmodern Courier New;}{\f2\fswiss\fcharset204 Arial;}}
{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s2 Quote;}}
\pard\s1{\b Tea}\par\pard\s2 said\par
\pard{\listtext 1.\tab}\ilvl0 one\par{\listtext (a)\tab}\ilvl1 inner{\footnote\pard In.}\par{\listtext 2.\tab}\ilvl0 two\par
\pard\li360\fi-360\bullet\tab dot\par\pard\li720\fi-360\bullet\tab nested\par
\pard Text{\super 2}{\footnote\pard {\super\chftn} A {\i note}.} and {\f1 code}{\f2 \'cf}\par
\pard{\f1 ls -l}\par
{\v hidden}{\deleted gone}\u55357?\u56832?\par}";
    assert_eq!(
        html(DocumentKind::Rtf, text),
        "<h1>Tea</h1>\n<blockquote><p>said</p>\n</blockquote>\n<ol><li>one<ul><li>(a) inner<sup><a href=\"#fn1\">1</a></sup></li></ul>\n</li>\n<li>two</li></ol>\n\
         <ul><li>dot<ul><li>nested</li></ul>\n</li></ul>\n\
         <p>Text<sup>2</sup><sup><a href=\"#fn2\">2</a></sup> and <code>code</code>П</p>\n<pre><code>ls -l</code></pre>\n<p>😀</p>\n\
         <ol><li id=\"fn1\">In.</li>\n<li id=\"fn2\">A <em>note</em>.</li>\n</ol>\n"
    );
}

#[test]
fn rtf_cells_have_their_paragraphs_and_spans() {
    let text = r"{\rtf1\trowd\clvmgf\cellx1\clmgf\cellx2\clmrg\cellx3\pard\intbl both\cell one\par two\cell \cell\row
\trowd\clvmrg\cellx1\cellx2\cellx3\pard\intbl \cell b\cell c\cell\row\pard After\par{\pict\pngblip 89504e470d0a1a0a}\par}";
    assert_eq!(
        html(DocumentKind::Rtf, text),
        "<table>\n<tr><th rowspan=\"2\">both</th><th colspan=\"2\">one<br>two</th></tr>\n<tr><td>b</td><td>c</td></tr>\n</table>\n\
         <p>After</p>\n<p><img src=\"data:image/png;base64,iVBORw0KGgo=\" alt=\"\"></p>\n"
    );
}
