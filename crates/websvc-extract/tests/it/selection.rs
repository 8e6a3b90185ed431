//! Tests of includeTags, excludeTags, links, cleaned HTML and embedded images.

use crate::page::{full, parse};
use websvc_extract::{Base64Images, ContentOptions, ExtractError, Selectors};

fn selectors(list: &[&str]) -> Selectors {
    Selectors::parse(list).unwrap()
}

#[test]
fn include_tags_accept_selectors_and_write_nothing_twice() {
    let page =
        parse("<div id=a><p>one</p><p class='x y'>two</p></div><section><p>three</p></section><p>four</p>");
    for (list, expected) in [
        (&["section"][..], "three\n"),
        (&["#a > .x", "section"], "two\n\nthree\n"),
        (&["div, p.x"], "one\n\ntwo\n"),
        (&["p:nth-child(2)", "[id=a] p:not(.x)"], "one\n\ntwo\n"),
    ] {
        let options = ContentOptions { include_tags: selectors(list), ..ContentOptions::default() };
        assert_eq!(page.content(&options).markdown(), expected, "{list:?}");
    }
}

#[test]
fn exclude_tags_override_include_tags() {
    let page = parse("<div><p>one</p><p class=ad>two</p></div><footer><p>three</p></footer>");
    let mut options = ContentOptions { exclude_tags: selectors(&[".ad", "footer"]), ..full() };
    assert_eq!(page.content(&options).text(), "one\n");
    options.include_tags = selectors(&["p"]);
    assert_eq!(page.content(&options).text(), "one\n");
}

#[test]
fn include_tags_without_match_return_the_page_and_a_warning() {
    let page = parse("<p>one</p>");
    let options = ContentOptions { include_tags: selectors(&["article"]), ..ContentOptions::default() };
    let content = page.content(&options);
    assert_eq!(content.text(), "one\n");
    assert_eq!(content.warnings(), ["no element matches includeTags; the full page is returned"]);
}

#[test]
fn invalid_selector_is_in_the_error() {
    for bad in ["p[", "..x", "p::before", "a >", "%"] {
        let error = Selectors::parse(&["p", bad]).unwrap_err();
        assert!(matches!(error, ExtractError::Selector { ref selector, .. } if selector == bad), "{error}");
    }
}

#[test]
fn links_are_absolute_and_unique() {
    let page = parse(
        "<a href=b>1</a><a href=b#x>2</a><a href=#y>3</a><a href=mailto:m@x.org>4</a><a href='javascript:f()'>5</a>",
    );
    assert_eq!(page.content(&full()).links(), ["https://example.com/dir/b", "mailto:m@x.org"]);
}

#[test]
fn html_has_no_scripts_styles_and_handlers() {
    let page = parse(
        "<p onclick=f() style='color:red' class=k>a&lt;b<script>x</script><!-- c --><a href='javascript:f()'>j</a><img src=i.png \
         onerror=f()><iframe src=//x></iframe></p>",
    );
    let expected = "<p class=\"k\">a&lt;b<a>j</a><img src=\"https://example.com/dir/i.png\"></p>";
    let html = page.content(&ContentOptions { include_tags: selectors(&["p"]), ..full() }).html();
    assert_eq!(html.trim_end(), expected);
}

#[test]
fn embedded_images_are_replaced_or_kept_in_markdown() {
    let page = parse("<p><img src='data:image/png;base64,AAAA' alt=Chart></p>");
    assert_eq!(page.content(&full()).markdown(), "![Chart](<Base64-Image-Removed>)\n");
    // Section 2.2 of the specification: the option does not affect HTML.
    assert!(page.content(&full()).html().contains("src=\"data:image/png;base64,AAAA\""));
    let options = ContentOptions { base64_images: Base64Images::Keep, ..full() };
    assert_eq!(page.content(&options).markdown(), "![Chart](data:image/png;base64,AAAA)\n");
}
