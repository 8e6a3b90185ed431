//! Pages made to cost much: the work must stay linear and the stack shallow.

use crate::page::{full, parse};
use websvc_extract::{ContentOptions, MAX_DEPTH, MAX_NODES, MAX_OUTPUT_BYTES};

/// Runs on a stack smaller than that of any thread the service uses.
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
fn deep_nesting_is_flattened_without_overflowing_the_stack() {
    on_small_stack(|| {
        for tag in ["div", "ul><li", "blockquote", "span", "b", "table><tr><td", "a", "math", "x-y", "svg"] {
            let text = exercise(&format!("{}<p>bottom", format!("<{tag}>").repeat(100_000)));
            assert!(text.contains("bottom") || tag == "svg", "{tag}");
        }
    });
}

#[test]
fn unclosed_and_misnested_markup_stays_within_the_bounds() {
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
fn spans_of_table_cells_do_not_multiply() {
    let row = "<tr><td colspan=1000000 rowspan=1000000>x</td></tr>";
    let markdown = exercise(&format!("<table><tr><th>a</th><th>b</th></tr>{}</table>", row.repeat(1_000)));
    assert!(markdown.len() < 4 << 20, "{}", markdown.len());
}

#[test]
fn images_that_share_a_figure_or_a_picture_do_not_multiply() {
    for open in ["<figure>", "<picture>", "<figure><figcaption>", "<p>"] {
        exercise(&format!("{open}{}", "<img src=a.jpg srcset='b.jpg 2w'>x".repeat(3_000)));
        exercise(&format!("{open}{}", "<source srcset='b.jpg 2w'><img src=a.jpg>".repeat(3_000)));
    }
    exercise(&"<div itemscope itemtype=https://schema.org/Article>".repeat(3_000));
}

#[test]
fn one_long_line_is_read() {
    let markdown = parse(&format!("<p>{}", "word *_`[ ".repeat(200_000))).content(&full()).markdown();
    assert!(markdown.len() > 2_000_000);
}

#[test]
fn a_line_longer_than_the_output_may_be_is_cut() {
    let line = "tea ".repeat(MAX_OUTPUT_BYTES / 4 + 1_000);
    let markdown = parse(&format!("<p>{line}")).content(&full()).markdown();
    assert!((MAX_OUTPUT_BYTES - 4..=MAX_OUTPUT_BYTES + 1).contains(&markdown.len()), "{}", markdown.len());
}

#[test]
fn the_number_of_nodes_is_bounded_and_said_to_be() {
    let page = parse(&"<i></i>".repeat(MAX_NODES + 10));
    let content = page.content(&full());
    assert_eq!(
        content.warnings(),
        ["the page is too large or too deeply nested; the rest of it was left out"]
    );
    const { assert!(MAX_DEPTH <= 512) };
}

#[test]
fn styles_and_formulas_cost_no_more_than_their_size() {
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
