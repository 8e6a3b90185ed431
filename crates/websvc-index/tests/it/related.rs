//! The operator `related:`.

use websvc_index::SearchOptions;

use crate::support::{Fixture, page};
use crate::tables::{self, linking};

#[test]
fn related_finds_pages_by_links_and_words_but_not_the_domain_itself() {
    let web = Fixture::new(tables::related_pages());
    for (query, expected) in tables::RELATED {
        web.check_set(query, expected);
    }
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
fn images_of_related_pages_are_found() {
    let web = Fixture::new(tables::related_pages());
    web.check_images("related:pots.test", SearchOptions::default(), &["img.test/a.png"]);
}
