//! Tests of the main content of several kinds of pages.

use crate::page::{full, parse};
use websvc_extract::ContentOptions;

const PROSE: &str = "The kettle was invented twice, once by people who wanted tea and once by people who wanted to sell \
    kettles. Both groups agreed, for different reasons, that the spout should point away from the hand.";

fn article() -> String {
    let paragraphs = format!("<p>{PROSE}</p>").repeat(6);
    format!(
        "<html><head><title>Kettles | The Daily Pot</title></head><body><header><nav><ul><li><a href=/>Home</a><li><a \
         href=/news>News</a><li><a href=/shop>Shop</a></ul></nav></header><main><article><h1>Kettles</h1>{paragraphs}<pre>boil \
         --now</pre></article></main><aside class=sidebar><h4>Related</h4><ul><li><a href=/1>Ten best mugs</a><li><a \
         href=/2>Cups of the year</a></ul></aside><footer><p>© 2026 The Daily Pot. All rights reserved.</p><a \
         href=/privacy>Privacy policy</a></footer></body></html>"
    )
}

#[test]
fn article_is_without_navigation_sidebar_and_footer() {
    let text = parse(&article()).content(&ContentOptions::default()).text();
    assert!(text.contains("Both groups agreed"), "{text}");
    for boilerplate in ["Shop", "Ten best mugs", "Privacy policy", "All rights reserved"] {
        assert!(!text.contains(boilerplate), "{boilerplate} in {text}");
    }
}

#[test]
fn full_scope_has_all_visible_text() {
    let text = parse(&article()).content(&full()).text();
    assert!(text.contains("Shop") && text.contains("All rights reserved"), "{text}");
}

#[test]
fn all_formats_have_the_same_part() {
    let page = parse(&article());
    let content = page.content(&ContentOptions::default());
    assert!(!content.html().contains("Ten best mugs"));
    assert_eq!(content.links(), Vec::<String>::new());
    assert_eq!(content.headings(), ["Kettles"]);
}

#[test]
fn page_without_text_is_returned_in_full_with_a_warning() {
    let page = parse("<body><img src=/a.png alt=A></body>");
    let content = page.content(&ContentOptions::default());
    assert_eq!(content.markdown(), "![A](https://example.com/a.png)\n");
    assert_eq!(content.warnings(), ["no main content was found; the full page is returned"]);
}

#[test]
fn noscript_content_is_used_only_if_it_has_more_text() {
    let html = format!("<body><div id=app></div><noscript><h1>Thread</h1><p>{PROSE}</p></noscript></body>");
    assert!(parse(&html).content(&full()).text().contains("Both groups agreed"));
    let html = format!(
        "<body>{}<noscript><p>Turn scripts on.</p></noscript></body>",
        format!("<p>{PROSE}</p>").repeat(5)
    );
    assert!(!parse(&html).content(&full()).text().contains("Turn scripts on"));
}

#[test]
fn parts_of_a_page_builder_are_content_and_its_window_is_not() {
    let widget = |content: &str| {
        format!(
            "<div class='elementor-element elementor-widget elementor-widget-text'><div class=elementor-widget-container>{content}\
             </div></div>"
        )
    };
    let list = widget(
        "<ul class=elementor-icon-list-items><li><span>Copper</span></li><li><span>Two liters</span></li></ul>",
    );
    let html = format!(
        "<title>Kettle</title><body class=elementor-page><header><nav><ul><li><a href=/b>Menu entry</a></ul></nav></header><div \
         class=elementor>{}{}{list}</div><div class=elementor-popup-modal><form><p>Join our list</p></form></div><footer><a \
         href=/b>Menu entry</a></footer>",
        widget("<h1>Kettle</h1>"),
        widget(&format!("<p class=text-right>{PROSE}</p>")),
    );
    let markdown = parse(&html).content(&ContentOptions::default()).markdown();
    for text in ["# Kettle", "Both groups agreed", "- Copper\n- Two liters"] {
        assert!(markdown.contains(text), "{text} is not in {markdown}");
    }
    assert!(!markdown.contains("Menu entry") && !markdown.contains("Join our list"), "{markdown}");
}

#[test]
fn dialogs_of_consent_managers_and_closed_windows_are_left_out() {
    let dialog = "<p>We and our partners store information on your device, such as cookies, to measure how the site is used, \
                  and to show advertising that fits your interests.</p>"
        .repeat(8);
    for window in [
        format!("<div id=onetrust-consent-sdk>{dialog}</div>"),
        format!("<div class='modal fade' tabindex=-1 aria-hidden=true>{dialog}</div>"),
    ] {
        let html = article()
            .replace("<aside", &format!("{window}<aside"))
            .replace("</pre>", &format!("</pre><p>{PROSE}</p>").repeat(9));
        let text = parse(&html).content(&ContentOptions::default()).text();
        assert!(!text.contains("our partners") && text.contains("Both groups"), "{window}: {text}");
        assert!(parse(&html).content(&full()).text().contains("our partners"));
    }
}

#[test]
fn copies_of_texts_are_left_out() {
    let posts: String = (0..6)
        .map(|n| {
            let own = format!("Answer {n}: my kettle is made of copper, and it needs four minutes and {n} seconds for a liter.");
            let quote = format!(
                "<blockquote class=quote>Answer {}: my kettle is made of copper, and it needs four minutes and {} seconds for a \
                 liter.</blockquote>",
                n - 1,
                n - 1
            );
            let quote = if n > 0 { quote } else { String::new() };
            format!("<article class=post><div class=post-body>{quote}<p>{own}</p></div></article>")
        })
        .collect();
    let html = format!("<title>Kettles</title><body><main class=thread><h1>Kettles</h1>{posts}</main>");
    let text = parse(&html).content(&ContentOptions::default()).text();
    for n in 0..6 {
        assert_eq!(text.matches(&format!("Answer {n}:")).count(), 1, "{text}");
    }
    let plan = "<p>Eat two eggs, one slice of bread with butter, and a bowl of the soup of yesterday for breakfast.</p><p>Rest.</p>";
    let html = format!("<title>Plan</title><main><article><h1>Plan</h1>{}</article></main>", plan.repeat(4));
    let text = parse(&html).content(&ContentOptions::default()).text();
    assert_eq!(text.matches("two eggs").count(), 4, "a section may repeat a text: {text}");
}

#[test]
fn shortcodes_of_page_builders_are_not_text() {
    let html = article()
        .replace("<p>", "<p>[vc_row css=\".a{}\"][vc_column]")
        .replace("</p>", "[/vc_column][/vc_row]</p>");
    let text = parse(&html).content(&ContentOptions::default()).text();
    assert!(text.contains("Both groups agreed") && !text.contains("vc_"), "{text}");
}
