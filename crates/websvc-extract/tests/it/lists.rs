//! Tests of lists in the main content: records with all their parts, and the link to the next page.

use url::Url;
use websvc_extract::{ContentOptions, Document, Source};

const PROSE: [&str; 4] = [
    "Our workshop opened in a former dairy, and the smell of milk took a decade to leave. Since then, six people have made \
     lamps there by hand, each from the first cut to the last coat of oil.",
    "The shades are of linen from the next valley, which is woven on looms older than anybody who works there. It yellows a \
     little in the sun, and most customers tell us that they like it better after that.",
    "Every lamp leaves the house with a spare bulb, a cloth, and a card that says who made it. If something breaks, send it \
     back: we repair our own work for as long as the workshop exists.",
    "Visitors are welcome on the first Saturday of each month. Bring good shoes, because the yard is paved with the stones \
     that the river left, and ask for the cake.",
];

/// Returns a page with a menu, a side column and a footer around its content.
fn page(title: &str, content: &str) -> String {
    format!(
        "<html><head><title>{title} | Fernlight</title></head><body><div id=top><ul class=menu><li><a href=/>Home</a><li><a \
         href=/news>News</a><li><a href=/visit>Visit us</a></ul></div><div id=wrap><div class=sidebar><h4>Topics</h4><ul><li><a \
         href=/t/wood>Wood</a><li><a href=/t/linen>Linen</a></ul></div><div class=col><h1>{title}</h1>{content}</div></div><div \
         id=bottom><a href=/imprint>Imprint</a> © Fernlight. All rights reserved.</div></body></html>"
    )
}

fn paragraphs() -> String {
    PROSE.map(|text| format!("<p>{text}</p>")).concat()
}

fn markdown(address: &str, html: &str) -> String {
    let url = Url::parse("https://lamps.example").unwrap().join(address).unwrap();
    let source = Source { bytes: html.as_bytes(), content_type: Some("text/html; charset=utf-8"), url: &url };
    Document::parse(source).unwrap().content(&ContentOptions::default()).markdown()
}

#[track_caller]
fn check(markdown: &str, kept: &[&str], left_out: &[&str]) {
    for text in kept {
        assert!(markdown.contains(text), "{text} is not in {markdown}");
    }
    for text in left_out {
        assert!(!markdown.contains(text), "{text} is in {markdown}");
    }
}

const LAMPS: [(&str, &str); 6] = [
    ("Arvid", "49.00"),
    ("Brisa", "129.50"),
    ("Calder", "89.00"),
    ("Dagny", "212.00"),
    ("Elio", "35.90"),
    ("Fenna", "74.25"),
];

fn cards(price: impl Fn(&str) -> String) -> String {
    let card = |(name, amount): (&str, &str)| {
        format!(
            "<div class=card><h3><a href=/item/{name}>Lamp {name}</a></h3><p>Turned from ash, with a shade of linen.</p><p \
             class=price>{}</p></div>",
            price(amount)
        )
    };
    format!("<div class=grid>{}</div>", LAMPS.map(card).concat())
}

#[test]
fn prices_stay_with_their_products_between_prose() {
    for format in ["Price: # EUR", "$#", "from # €", "CHF #"] {
        let cards = cards(|amount| format.replace('#', amount));
        let html = page("The spring catalogue", &format!("{}{cards}{}", paragraphs(), paragraphs()));
        let markdown = markdown("/catalogue", &html);
        let prices = LAMPS.map(|(_, amount)| format.replace('#', amount));
        check(&markdown, &prices.each_ref().map(String::as_str), &["Imprint", "Visit us"]);
    }
}

#[test]
fn link_to_the_next_page_is_kept_without_the_other_pages() {
    let pager = "<nav class=pagination><span>1</span><a href='/shop?page=2'>2</a><a href='/shop?page=3'>3</a><a \
                 href='/shop?page=2'>Next page</a></nav>";
    let html =
        page("Lamps", &format!("{pager}{}{}{pager}", paragraphs(), cards(|amount| format!("${amount}"))));
    let markdown = markdown("/shop", &html);
    check(&markdown, &["[Next page](https://lamps.example/shop?page=2)"], &["page=3", "[2]"]);
    assert_eq!(markdown.matches("page=2").count(), 1, "{markdown}");
}

#[test]
fn link_with_the_next_number_is_kept_if_no_link_says_next() {
    let pager = "<ul class=pager><li><a href=/shop/page/1>1</a><li>2<li><a href=/shop/page/3>3</a><li><a \
                 href=/shop/page/4>4</a></ul>";
    let html = page("Lamps", &format!("{}{}{pager}", paragraphs(), cards(|amount| format!("${amount}"))));
    check(
        &markdown("/shop/page/2", &html),
        &["[3](https://lamps.example/shop/page/3)"],
        &["page/1", "page/4"],
    );
}

#[test]
fn link_to_the_next_page_is_kept_before_one_to_the_last_page() {
    let pager = "<div class=pager><a href='/shop?page=1'>«</a> <a href='/shop?page=2'>‹</a> <span>3</span> <a \
                 href='/shop?page=4'>›</a> <a href='/shop?page=40'>»</a></div>";
    let html = page("Lamps", &format!("{}{}{pager}", paragraphs(), cards(|amount| format!("${amount}"))));
    check(
        &markdown("/shop?page=3", &html),
        &["[›](https://lamps.example/shop?page=4)"],
        &["page=1", "page=2", "page=40"],
    );
}

#[test]
fn link_to_the_next_post_is_left_out() {
    let pager = "<div class=post-navigation><a rel=prev href=/2026/moss>Previous</a> <a rel=next \
                 href=/2026/slugs>Next</a></div>";
    let html = page("Oil for ash", &format!("<article>{}</article>{pager}", paragraphs()));
    check(&markdown("/2026/oil", &html), &["paved with the stones"], &["slugs", "moss"]);
}

#[test]
fn prices_of_offers_around_an_article_are_left_out() {
    let offers = format!(
        "<aside class=related><h4>You may also like</h4>{}</aside>",
        cards(|amount| format!("${amount}"))
    );
    let html = page("Oil for ash", &format!("<article>{}</article>{offers}", paragraphs().repeat(2)));
    check(&markdown("/2026/oil", &html), &["paved with the stones"], &["$49.00", "$212.00"]);
}
