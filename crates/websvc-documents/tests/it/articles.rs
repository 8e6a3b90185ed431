//! Tests of articles and books in XML: JATS, DocBook, TEI.

use websvc_documents::{DocumentKind, Limits, ParsedDocument, parse};

fn read(kind: DocumentKind, text: &str) -> ParsedDocument {
    assert_eq!(DocumentKind::detect(text.as_bytes(), Some("application/xml")), Some(kind));
    parse(kind, text.as_bytes().to_vec(), &Limits::default()).unwrap()
}

#[test]
fn jats_is_read_with_metadata_sections_tables_formulas_and_notes() {
    let text = "<article article-type=\"research-article\"><front><journal-meta><journal-title>J</journal-title></journal-meta><article-meta>\
        <title-group><article-title>Of <italic>tea</italic></article-title></title-group><contrib-group><contrib contrib-type=\"author\"><name>\
        <surname>Lovelace</surname><given-names>Ada</given-names></name><xref ref-type=\"aff\" rid=\"a1\">1</xref></contrib></contrib-group>\
        <pub-date><day>2</day><month>1</month><year>2024</year></pub-date><abstract><title>Abstract</title><p>Short.</p></abstract>\
        </article-meta></front><body><sec><label>1</label><title>Methods</title><p>We boiled <xref ref-type=\"bibr\" rid=\"b1\">[1]</xref>\
        <xref ref-type=\"fn\" rid=\"f1\">a</xref> <inline-formula><alternatives><tex-math>\\documentclass{x}\\begin{document}$x^2$\\end{document}\
        </tex-math><mml:math><mml:mi>x</mml:mi></mml:math></alternatives></inline-formula>.</p><sec><title>Cups</title>\
        <list list-type=\"order\"><list-item><p>one</p></list-item></list><table-wrap><label>Table 1</label><caption><title>Prices</title></caption>\
        <table><thead><tr><th>Tea</th></tr></thead><tbody><tr><td colspan=\"2\">x</td></tr></tbody></table></table-wrap>\
        <disp-formula><mml:math><mml:mn>1</mml:mn></mml:math></disp-formula></sec></sec></body>\
        <back><fn-group><fn id=\"f1\"><label>a</label><p>Gently.</p></fn></fn-group><ref-list><ref id=\"b1\"><element-citation><name><surname>Roe</surname>\
        <given-names>M</given-names></name><article-title>On cups</article-title><source>J Tea</source><year>1999</year></element-citation></ref>\
        </ref-list></back></article>";
    let parsed = read(DocumentKind::Jats, text);
    assert_eq!(
        parsed.html,
        "<h1>Of <em>tea</em></h1>\n<p>Ada Lovelace</p>\n<h2>Abstract</h2>\n<p>Short.</p>\n<h2>Methods</h2>\n\
         <p>We boiled [1]<sup><a href=\"#note-f1\">a</a></sup> <math alttext=\"x^2\"><mtext>x^2</mtext></math>.</p>\n\
         <h3>Cups</h3>\n<ol><li>one </li>\n</ol>\n<strong>Table 1</strong> <strong>Prices</strong><table><thead><tr><th>Tea</th></tr></thead>\
         <tbody><tr><td colspan=\"2\">x</td></tr></tbody></table><math><mn>1</mn></math><p id=\"note-f1\">Gently.</p>\n\
         <h2>References</h2>\n<p>Roe M, On cups, J Tea, 1999</p>\n"
    );
    assert_eq!(parsed.metadata.title.as_deref(), Some("Of tea"));
    assert_eq!(parsed.metadata.author.as_deref(), Some("Ada Lovelace"));
    assert_eq!(parsed.metadata.created.as_deref(), Some("2024-01-02"));
}

#[test]
fn docbook_is_read_with_sections_lists_code_and_tables() {
    let text = "<book xmlns=\"http://docbook.org/ns/docbook\"><info><title>Tea</title><author><personname><firstname>Ada</firstname>\
        <surname>Lovelace</surname></personname></author><pubdate>2024</pubdate></info><chapter><title>Water</title>\
        <para>Boil <emphasis role=\"bold\">it</emphasis><footnote><para>Long.</para></footnote>, see <link xlink:href=\"https://tea.test/\">here</link>.</para>\
        <section><title>Steps</title><orderedlist><listitem><para>one</para></listitem></orderedlist>\
        <variablelist><varlistentry><term>Cup</term><listitem><para>holds tea</para></listitem></varlistentry></variablelist>\
        <programlisting language=\"sh\">ls &lt; a</programlisting><warning><para>Hot.</para></warning>\
        <informaltable><tgroup cols=\"2\"><colspec colname=\"c1\"/><thead><row><entry namest=\"c1\" nameend=\"c2\">Tea</entry></row></thead>\
        <tbody><row><entry morerows=\"1\">a</entry><entry>b</entry></row></tbody></tgroup></informaltable></section></chapter></book>";
    let parsed = read(DocumentKind::DocBook, text);
    assert_eq!(
        parsed.html,
        "<h1>Tea</h1>\n<p>Ada Lovelace</p>\n<h2>Water</h2>\n<p>Boil <strong>it</strong><sup><a href=\"#fn1\">1</a></sup>, see \
         <a href=\"https://tea.test/\">here</a>.</p>\n<h3>Steps</h3>\n<ol><li>one </li>\n</ol>\n<dl><dt>Cup</dt><dd>holds tea </dd></dl>\
         <pre><code class=\"language-sh\">ls &lt; a</code></pre>\n<blockquote><p><strong>Warning</strong></p>\n<p>Hot.</p>\n</blockquote>\n\
         <table><tr><th colspan=\"2\">Tea</th></tr><tr><td rowspan=\"2\">a</td><td>b</td></tr></table><ol><li id=\"fn1\">Long.</li>\n</ol>\n"
    );
    assert_eq!(parsed.metadata.created.as_deref(), Some("2024"));
}

#[test]
fn tei_is_read_with_divisions_verse_and_corrections() {
    let text = "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader><fileDesc><titleStmt><title>Tea</title><author>Ada</author></titleStmt>\
        <publicationStmt><p>no</p></publicationStmt></fileDesc></teiHeader><text><body><div><head>One</head>\
        <p>A <choice><sic>cpu</sic><corr>cup</corr></choice> of <hi rend=\"italic\">tea</hi>.<note place=\"foot\">Hot.</note></p>\
        <lg><l>first</l><l>second</l></lg><list type=\"ordered\"><item>a</item></list>\
        <table><row role=\"label\"><cell role=\"label\">Tea</cell></row><row><cell>x</cell></row></table><div><head>Two</head><p>End<gap/></p></div>\
        </div></body></text></TEI>";
    assert_eq!(
        read(DocumentKind::Tei, text).html,
        "<h1>Tea</h1>\n<p>Ada</p>\n<h2>One</h2>\n<p>A cup of <em>tea</em>.<sup><a href=\"#fn1\">1</a></sup></p>\n\
         <p>first<br>second<br></p><ol><li>a</li>\n</ol>\n<table><tr><th>Tea</th></tr><tr><td>x</td></tr></table>\
         <h3>Two</h3>\n<p>End[…]</p>\n<ol><li id=\"fn1\">Hot.</li>\n</ol>\n"
    );
}

#[test]
fn damaged_and_long_articles_are_bounded() {
    let root = "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><text><body>";
    let long = format!("{root}{}", "<p>text<note>n</note></p>".repeat(20_000));
    let limits = Limits { max_output_bytes: 5000, ..Limits::default() };
    let parsed = parse(DocumentKind::Tei, long.into_bytes(), &limits).unwrap();
    assert!(parsed.html.len() <= 5000 && parsed.warnings.len() == 1, "{}", parsed.html.len());
    let deep = format!("{root}{}", "<div>".repeat(100_000));
    assert!(parse(DocumentKind::Tei, deep.into_bytes(), &Limits::default()).is_err());
    let damaged = format!("{root}<p>kept</p><p a=\"<");
    assert!(
        parse(DocumentKind::Tei, damaged.into_bytes(), &Limits::default()).unwrap().html.contains("kept")
    );
}
