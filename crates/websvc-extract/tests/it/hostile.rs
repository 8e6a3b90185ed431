//! Hostile pages: the work must be linear in their size, and the stack must stay small.

use crate::page::{full, parse};
use websvc_extract::{
    ContentOptions, Document, MAX_DEPTH, MAX_NODES, MAX_OUTPUT_BYTES, MAX_SCORED_NODES, MAX_SOURCE_BYTES,
};

const TRUNCATED: &str = "the page is too large or too deeply nested; the rest was ignored";

/// Runs on a stack that is smaller than that of any thread of the service.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

fn exercise(html: &str) -> String {
    let page = parse(html);
    let content = page.content(&ContentOptions::default());
    let (text, html, links) = (content.text(), content.html(), content.links());
    drop((
        html,
        links,
        page.metadata(),
        page.anchors(),
        page.images(),
        page.image_details(),
        content.anchors(),
    ));
    format!("{text}{}", content.markdown())
}

#[test]
fn deep_nesting_is_flattened_on_a_small_stack() {
    on_small_stack(|| {
        for tag in ["div", "ul><li", "blockquote", "span", "b", "table><tr><td", "a", "math", "x-y", "svg"] {
            let text = exercise(&format!("{}<p>bottom", format!("<{tag}>").repeat(100_000)));
            assert!(text.contains("bottom") || tag == "svg", "{tag}");
        }
    });
}

#[test]
fn unclosed_and_misnested_markup_stays_within_the_limits() {
    on_small_stack(|| {
        let formatting: String = (0..5_000).map(|i| format!("<b id={i}>")).collect();
        exercise(&format!("{formatting}{}", "<p>x".repeat(20_000)));
        exercise(&"<a href=x><table><a href=y>".repeat(5_000));
        exercise(&"</p></div></br>".repeat(50_000));
        exercise(&"<div><button></div>".repeat(20_000));
        exercise(&"<section><table><tr><td></section><div>".repeat(5_000));
        exercise(&"<select><option>".repeat(30_000));
        exercise(&format!("<div {}>x</div>", (0..50_000).map(|i| format!("a{i}=b ")).collect::<String>()));
    });
}

#[test]
fn large_table_spans_do_not_multiply_the_output() {
    let row = "<tr><td colspan=1000000 rowspan=1000000>x</td></tr>";
    let markdown = exercise(&format!("<table><tr><th>a</th><th>b</th></tr>{}</table>", row.repeat(1_000)));
    assert!(markdown.len() < 4 << 20, "{}", markdown.len());
}

#[test]
fn images_in_one_figure_or_picture_do_not_multiply_the_work() {
    for open in ["<figure>", "<picture>", "<figure><figcaption>", "<p>"] {
        exercise(&format!("{open}{}", "<img src=a.jpg srcset='b.jpg 2w'>x".repeat(3_000)));
        exercise(&format!("{open}{}", "<source srcset='b.jpg 2w'><img src=a.jpg>".repeat(3_000)));
    }
    exercise(&"<div itemscope itemtype=https://schema.org/Article>".repeat(3_000));
}

#[test]
fn one_long_line_is_extracted() {
    let markdown = parse(&format!("<p>{}", "word *_`[ ".repeat(200_000))).content(&full()).markdown();
    assert!(markdown.len() > 2_000_000);
}

#[test]
fn line_longer_than_the_output_limit_is_cut() {
    // The markdown has a backslash before each asterisk.
    let page = parse(&format!("<p>{}", "*".repeat(MAX_SOURCE_BYTES - 3)));
    let content = page.content(&full());
    assert_eq!(content.warnings(), [] as [&str; 0]);
    let markdown = content.markdown();
    assert!((MAX_OUTPUT_BYTES - 4..=MAX_OUTPUT_BYTES + 1).contains(&markdown.len()), "{}", markdown.len());
    let warning =
        format!("a format of the page is longer than {MAX_OUTPUT_BYTES} bytes; the rest was cut off");
    assert_eq!(content.warnings(), [warning]);
}

#[test]
fn nodes_above_the_limit_are_ignored_with_a_warning() {
    let page = parse(&"<i></i>".repeat(MAX_NODES + 10));
    let content = page.content(&full());
    assert_eq!(content.warnings(), [TRUNCATED]);
    const { assert!(MAX_DEPTH <= 512) };
}

#[test]
fn styles_and_formulas_cost_linear_time() {
    let rules: String =
        (0..20_000).map(|i| format!(".a, .b .a{i} > p {{ opacity: 0; left: -{i}px }}")).collect();
    let elements =
        "<p class='a a1 b' style='opacity:0;position:fixed;left:-999px'><b class=a>x</b></p>".repeat(5_000);
    exercise(&format!("<style>{rules}</style>{elements}"));
    exercise(&format!("<style>{}</style>{elements}", "@media x{".repeat(100_000)));
    exercise(&format!("<style>{}</style>{elements}", "a{}/*".repeat(100_000)));
    exercise(&format!("<p>{}", "\\( $x_ $$ \\[ ".repeat(50_000)));
    exercise(&format!("<pre>{}", "<span style='display:flex;user-select:none'>1</span>".repeat(20_000)));
    exercise(&"<a href='#_ftn1'>1</a><a href='x#_ftnref1'>1</a>".repeat(10_000));
    exercise(&format!("<style>.x{{font-size:0}}</style>{}", "<div class=x>".repeat(20_000)));
    exercise(&"日\n".repeat(200_000));
}

#[test]
fn page_above_the_size_limit_is_cut_with_a_warning() {
    let warning = format!("the page is longer than {MAX_SOURCE_BYTES} bytes; the rest was ignored");
    for content_type in ["text/html", "text/plain", "application/json"] {
        let text = "tea ".repeat(MAX_SOURCE_BYTES / 4 + 1);
        let page = crate::page::parse_bytes(text.as_bytes(), content_type);
        let content = page.content(&full());
        assert_eq!(content.warnings(), [warning.as_str()], "{content_type}");
        assert!(content.markdown().len() <= MAX_SOURCE_BYTES + 20);
        assert_eq!(page.into_raw_html().len(), MAX_SOURCE_BYTES);
    }
}

#[test]
fn html_that_grows_by_escapes_is_cut_inside_a_text() {
    let content = parse(&format!("<p>{}", "\u{a0}".repeat(3 << 20)));
    let content = content.content(&full());
    let html = content.html();
    assert!(html.len() < MAX_OUTPUT_BYTES + 100, "{}", html.len());
    assert_eq!(content.warnings().len(), 1);
}

/// A million attributes would keep the tokenizer busy for hours: the duration of this test is its assertion.
#[test]
fn million_attributes_cost_little_in_any_position() {
    let many: String = (0..1_000_000).map(|i| format!("a{i}=b ")).collect();
    for (before, after) in [
        ("<div ", ">inside</div><p>behind"),
        ("<p>x</p ", "><p>behind"),
        ("<title>t</title ", "><p>behind"),
        ("<svg><style><g ", "></style></svg><p>behind"),
        ("<p title='<i \"'><div x=\"a > b\" ", " y='> '>inside</div><p>behind"),
        ("<script>if (a<b x=\"</script><div ", ">inside</div><p>behind"),
        ("<!-- <b c='--><div ", "><p>behind"),
    ] {
        let page = parse(&format!("{before}{many}{after}"));
        let text = page.content(&full()).text();
        assert!(text.contains("behind"), "{before}: {text}");
    }
}

#[test]
fn long_values_and_comments_are_not_attributes() {
    let words = "word ".repeat(20_000);
    let json = format!("{{&quot;html&quot;: &quot;<b {words}&quot;}}");
    for (before, after) in [
        (format!("<img alt=x data-page='{words}' src=a.png>"), "![x](https://example.com/dir/a.png)"),
        (format!("<img alt=x data-page=\"{json}\" src=a.png>"), "![x]("),
        (format!("<!-- <b {words} -->"), ""),
    ] {
        let markdown = parse(&format!("{before}<p>behind")).content(&full()).markdown();
        assert!(markdown.contains(after) && markdown.ends_with("behind\n"), "{markdown:.200}");
    }
}

#[test]
fn repeated_formatting_elements_do_not_multiply_attributes() {
    let some: String = (0..500).map(|i| format!("a{i} ")).collect();
    let page = parse(&format!("<p><b {some}>{}", "x</p><p>".repeat(30_000)));
    assert_eq!(page.content(&full()).warnings(), [TRUNCATED]);
    for tag in ["body", "html"] {
        let pages: String = (0..20_000).map(|i| format!("<{tag} a{i}>")).collect();
        exercise(&format!("{pages}<p>x"));
    }
}

#[test]
fn long_base_url_is_not_repeated_in_each_link() {
    let links: String = (0..100_000).map(|i| format!("<a href=p{i}>x</a><img src=i{i}>")).collect();
    let lists = |page: &Document| {
        let content = page.content(&full());
        let (links, anchors, images) = (content.links(), page.anchors(), page.images());
        let bytes = |urls: &[String]| urls.iter().map(String::len).sum::<usize>();
        let anchors = anchors.iter().map(|anchor| anchor.url.as_str().len()).sum::<usize>();
        (bytes(&links), anchors, bytes(&images), content.warnings())
    };
    let page = parse(&format!("<base href='https://a.test/{}/'>{links}", "x".repeat(100_000)));
    assert_eq!(page.base_url().as_str(), "https://example.com/dir/page");
    let page = parse(&format!("<base href='https://a.test/{}/'>{links}", "x".repeat(450)));
    let (links, anchors, images, warnings) = lists(&page);
    assert!(links.max(anchors).max(images) < 10 << 20, "{links} {anchors} {images}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn paragraphs_and_tables_above_the_output_limit_are_cut() {
    let base = format!("<base href='https://a.test/{}/'>", "x".repeat(450));
    let links = "<a href=y>z</a> ".repeat(60_000);
    let spanned = format!("<tr><td rowspan=64>{}<td>b</tr>", "word ".repeat(100_000));
    for page in [
        format!("{base}<p>{links}"),
        format!("{base}<table><tr><th>a<th>b</tr><tr><td>{links}<td>{links}</tr></table>"),
        format!("<table><tr><th>a<th>b</tr>{spanned}{}</table>", "<tr><td>c</tr>".repeat(63)),
    ] {
        let page = parse(&page);
        let content = page.content(&full());
        let markdown = content.markdown();
        assert!(markdown.len() <= MAX_OUTPUT_BYTES + 64, "{}", markdown.len());
        assert_eq!(content.warnings().len(), 1, "{} bytes", markdown.len());
    }
}

#[test]
fn nested_labels_do_not_multiply_the_text() {
    let text = "tea ".repeat(1 << 19);
    let page = parse(&format!("{}{text}", "<h1><div>".repeat(100)));
    let bytes: usize = page.content(&full()).headings().iter().map(String::len).sum();
    assert!(bytes < 1 << 20, "{bytes}");
    let page = parse(&format!("{}{text}", "<a href=x><table><tr><td>".repeat(50)));
    let bytes: usize = page.anchors().iter().map(|anchor| anchor.text.len()).sum();
    assert!(bytes < 1 << 20, "{bytes}");
}

#[test]
fn page_with_too_many_nodes_is_returned_in_full() {
    let page = parse(&format!("<nav>menu</nav>{}", "<p>x</p>".repeat(MAX_SCORED_NODES / 2)));
    let content = page.content(&ContentOptions::default());
    assert!(content.markdown().starts_with("menu\n"));
    let warning = "the page is too large to find its main content; the full page is returned";
    assert_eq!(content.warnings(), [warning]);
}

/// Without a limit this takes two hundred million steps.
#[test]
fn expensive_sibling_selectors_stop_with_a_warning() {
    let page = parse(&"<p>x".repeat(20_000));
    let list = |selector: &str| websvc_extract::Selectors::parse(&[selector]).unwrap();
    for selector in [".none ~ p", "h1 ~ p ~ p"] {
        let content = page.content(&ContentOptions { include_tags: list(selector), ..full() });
        assert!(content.warnings()[0].starts_with("includeTags cost too much"), "{:?}", content.warnings());
        let content = page.content(&ContentOptions { exclude_tags: list(selector), ..full() });
        assert!(content.warnings()[0].starts_with("excludeTags cost too much"), "{:?}", content.warnings());
    }
    let page = parse(&"<p>x".repeat(1_000));
    for selector in ["p:nth-child(2n)", "p:nth-last-of-type(3n+1)", "p + p", "body > p:only-child, p:empty"] {
        let content = page.content(&ContentOptions { exclude_tags: list(selector), ..full() });
        assert_eq!(content.warnings(), [] as [&str; 0], "{selector}");
    }
}

#[test]
fn nested_cdata_sections_use_no_stack() {
    on_small_stack(|| {
        let source = format!("<a>{}>text]]></a>", "<![CDATA[".repeat(500_000));
        let page = crate::page::parse_bytes(source.as_bytes(), "application/xml");
        assert!(page.content(&full()).text().contains("text"));
    });
}

#[test]
fn hostile_structured_data_is_bounded() {
    let nested = "<div itemscope itemprop=a itemtype=Product>".repeat(100_000);
    let texts =
        format!("<div itemscope itemtype=Product>{}", "<p itemprop=description>a<b>b</b>".repeat(50_000));
    let references =
        format!("<i id=x itemprop=y itemscope itemref=x>{}", "<b itemscope itemref='x x x'>".repeat(20_000));
    let offers = format!(
        "<script type=application/ld+json>{{\"@type\":\"Product\",\"name\":\"A\",\"offers\":[{}]}}</script>",
        vec!["{\"@type\":\"Offer\",\"price\":1,\"sku\":\"s\"}"; 30_000].join(",")
    );
    let variables = "<script>dataLayer.push([".repeat(5_000);
    let open = format!("<script>{}", "dataLayer=[".repeat(100_000));
    let menu = format!("<title>Menu</title><h2>Pizza</h2>{}", "<h3>A<p>1.00<p>b".repeat(50_000));
    for html in [nested, texts, references, offers, variables, open, menu] {
        let page = parse(&html);
        let variants = page.product().map_or(0, |product| product.variants.len());
        let items: usize =
            page.menu().into_iter().flat_map(|menu| menu.sections).map(|section| section.items.len()).sum();
        assert!(variants <= 250 && items <= 2_000, "{variants} {items}");
    }
}

#[test]
fn tables_by_role_notes_cards_and_controls_cost_linear_time() {
    on_small_stack(|| {
        let row = "<div role=row><div role=cell>a</div><div role=cell>b</div></div>";
        exercise(
            &format!("<div role=table>{row}<div role=row><div role=cell>c</div><div role=cell>")
                .repeat(2_000),
        );
        exercise(&"<span style=display:table-cell>".repeat(50_000));
        let references: String = (0..5_000).map(|i| format!("<sup><a href=#n{i}>{i}</a></sup>")).collect();
        let notes: String = (0..5_000).map(|i| format!("<i id=n{i}>{i}</i>. Note.<br>")).collect();
        exercise(&format!("<p>{references}</p><p>{notes}</p>"));
        exercise(&format!("<p>{references}</p>{}", "<div><p id=n1>".repeat(200) + &notes));
        exercise(&format!("<p>text {}", "<b></b><span class=sidenote>a side note</span>".repeat(20_000)));
        exercise(&"<div><a href=/x></a><h3>Title</h3></div>".repeat(20_000));
        exercise(&format!("<div>{}", "<a href=/x></a><h3>Title</h3>".repeat(20_000)));
        exercise(&"<div><div>1 2 3</div><pre>x</pre><span>Copy</span></div>".repeat(10_000));
        exercise(&format!("<div><div>{}</div>{}", "<i>1</i>".repeat(20_000), "<pre>x</pre>".repeat(5_000)));
        exercise(&format!("<h2>{}", "<p>x</p><h3>".repeat(20_000)));
        let rules: String = (0..20_000).map(|i| format!(".a .b{i},.a{{display:block}}")).collect();
        exercise(&format!("<style>{rules}</style>{}", "<span class=a>x</span>".repeat(20_000)));
    });
}

#[test]
fn hostile_media_shadow_trees_and_shortcodes_are_bounded() {
    let wrappers = format!("<p>Text.{}{}", "<div class='a b c'>".repeat(240), "<img src=/x>".repeat(60_000));
    let shadows = format!("<main>{}", "<x><template shadowrootmode=open><slot><slot name=a>".repeat(20_000));
    let hosts =
        format!("<main><x>{}", "<template shadowrootmode=open><slot></slot></template>y".repeat(20_000));
    let shortcodes = "[vc_row a=\"]".repeat(200_000);
    let open = "[vc_row ".repeat(200_000);
    let noscripts =
        format!("<noscript><p>{}</noscript>", "Words that nobody shows. ".repeat(40)).repeat(2_000);
    let questions = vec![
        "{\"@type\":\"Question\",\"name\":\"Q\",\"acceptedAnswer\":{\"text\":\"A long answer to a question that nobody asked.\"}}";
        20_000
    ];
    let answers = format!(
        "<p>{}<script type=application/ld+json>{{\"@type\":\"FAQPage\",\"mainEntity\":[{}]}}</script>",
        "word ".repeat(200_000),
        questions.join(",")
    );
    let frames = "<iframe src='/v?file=/a.pdf'>".repeat(50_000);
    for html in [wrappers, shadows, hosts, shortcodes, open, noscripts, answers, frames] {
        let page = parse(&html);
        let text = page.content(&ContentOptions::default()).markdown();
        assert!(text.len() <= 8 * html.len(), "{} bytes of {}", text.len(), html.len());
    }
}
