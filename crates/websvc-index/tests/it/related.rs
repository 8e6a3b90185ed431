//! The operator `related:`.

use websvc_index::{Document, Image, Link, SearchOptions};

use crate::support::{Fixture, page};

fn linking(page: Document, urls: &[&str]) -> Document {
    let link = |url: &&str| Link { url: format!("https://{url}"), text: String::new() };
    Document { links: urls.iter().map(link).collect(), ..page }
}

fn web() -> Fixture {
    let about = "Kilns and glazes: stoneware clay is fired, glazed and fired again by the potter.";
    Fixture::new([
        linking(page("pots.test/", "Pottery", about), &["friend.test/x", "pots.test/shop", "absent.test/"]),
        page("shop.pots.test/", "Shop", "Stoneware bowls with celadon glazes from our kilns."),
        page("www.friend.test/", "A friend", "Something else entirely."),
        linking(page("fan.test/", "A fan", "On music."), &["shop.pots.test/bowl"]),
        page("ceramics.test/", "Ceramics", "Of clay, glazes, kilns and stoneware: what the potter does."),
        page("clay.test/", "Clay courts", "Tennis on clay is slow."),
        page("music.test/", "Music", "Violins and other instruments, played by night."),
        page("sea.test/", "The sea", "Waves, wind and salt, as ever."),
        page("law.test/", "Law", "Courts and rulings of the year."),
        Document {
            images: vec![Image {
                url: "https://img.test/a.png".to_owned(),
                alt: "portrait".to_owned(),
                ..Image::default()
            }],
            ..linking(page("portrait.test/", "Portraits", "Faces."), &["pots.test/"])
        },
    ])
}

#[test]
fn related_finds_pages_by_links_and_words_but_not_the_domain_itself() {
    let web = web();
    web.check_set(
        "related:pots.test",
        &["ceramics.test/", "fan.test/", "portrait.test/", "www.friend.test/"],
    );
    web.check_set("related:friend.test", &["pots.test/"]);
    web.check_set("related:music.test", &[]);
    web.check_set("related:nowhere.test", &[]);
}

#[test]
fn related_finds_hosts_that_the_domain_links_to() {
    let fixture = Fixture::new([
        linking(page("a.test/", "A", "one"), &["b.test/deep/page", "c.test/"]),
        page("b.test/", "B", "two"),
        page("blog.b.test/", "B", "three"),
        page("d.test/", "D", "four"),
    ]);
    fixture.check_set("related:a.test", &["b.test/", "blog.b.test/"]);
}

#[test]
fn related_combines_with_words_negation_and_images() {
    let web = web();
    web.check_set("related:pots.test music", &["fan.test/"]);
    web.check_set("related:pots.test -site:fan.test -kilns", &["portrait.test/", "www.friend.test/"]);
    web.check_set("clay -related:pots.test", &["clay.test/", "pots.test/"]);
    web.check_set("related:friend.test OR site:sea.test", &["pots.test/", "sea.test/"]);
    web.check_images("related:pots.test", SearchOptions::default(), &["img.test/a.png"]);
}
