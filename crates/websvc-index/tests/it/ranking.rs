//! The order of hits.

use websvc_index::{Document, DomainFilter, SearchOptions};

use crate::support::{Fixture, page, time};

#[test]
fn pages_with_all_words_rank_first() {
    let fixture = Fixture::new([
        page("some.test/", "Asyncio", &"asyncio ".repeat(30)),
        page(
            "all.test/",
            "Reference",
            "A long page that mentions asyncio once and much later, after other things, gather.",
        ),
        page("none.test/", "Nothing", "Unrelated words."),
    ]);
    fixture.check("asyncio gather", &["all.test/", "some.test/"]);
}

#[test]
fn unknown_word_in_a_long_query_does_not_exclude_relevant_pages() {
    let fixture = Fixture::new([
        page("answer.test/", "Parsing arguments", "Parse command line arguments of a program."),
        page("other.test/", "Other", "Completely different text about gardens."),
    ]);
    fixture.check("how do I conveniently parse the command line arguments in zyzzyva", &["answer.test/"]);
}

#[test]
fn words_in_titles_and_close_words_rank_higher() {
    let filler = "words that fill the page so that both pages are of the same length";
    let fixture = Fixture::new([
        page("body.test/", "Miscellany", &format!("{filler} garden {filler}")),
        page("title.test/", "Garden", &format!("{filler} garden {filler}")),
    ]);
    fixture.check("garden", &["title.test/", "body.test/"]);

    let fixture = Fixture::new([
        page("apart.test/", "A", &format!("context {filler} manager")),
        page("together.test/", "B", &format!("context manager {filler}")),
    ]);
    fixture.check("context manager", &["together.test/", "apart.test/"]);
}

#[test]
fn words_in_the_url_rank_higher() {
    let fixture = Fixture::new([
        page("a.test/docs/pathlib.html", "Module", "About files."),
        page("b.test/", "B", "About files."),
    ]);
    fixture.check("pathlib files", &["a.test/docs/pathlib.html", "b.test/"]);
}

#[test]
fn phrases_in_long_queries_are_required() {
    let fixture = Fixture::new([page(
        "a.test/",
        "Filters",
        "Linguistic methods that filter queries in large systems.",
    )]);
    fixture.check("filters \"linguistic filter\"", &[]);
    let long =
        "which methods exist today for filtering queries in large systems with a \"linguistic filter\"";
    fixture.check(long, &[]);
}

#[test]
fn words_repeated_in_the_query_have_more_weight() {
    let fixture = Fixture::new([
        page("a.test/", "A", "one page about alpha particles"),
        page("b.test/", "B", "one page about beta particles"),
    ]);
    fixture.check("alpha beta beta", &["b.test/", "a.test/"]);
    fixture.check("alpha alpha beta", &["a.test/", "b.test/"]);
}

/// Returns a text of `words` words, which differs from the texts of other seeds.
fn prose(seed: usize, words: usize) -> String {
    (0..words).map(|index| format!("word{} ", (index * index + seed * 7919 + index * seed) % 5_003)).collect()
}

fn hosts(hits: &[websvc_index::Hit]) -> Vec<&str> {
    hits.iter().filter_map(|hit| hit.url.split('/').nth(2)).collect()
}

#[test]
fn host_has_at_most_two_of_the_first_ten_hits() {
    let crowd = (0..60).map(|number| {
        page(&format!("crowd.test/{number}"), "Otters", &format!("otter otter otter {}", prose(number, 20)))
    });
    let others = (0..9).map(|number| {
        page(
            &format!("other{number}.test/"),
            "Animals",
            &format!("an otter somewhere {}", prose(100 + number, 200)),
        )
    });
    let fixture = Fixture::new(crowd.chain(others));
    let hits = fixture.search("otter", &SearchOptions::default()).hits;
    assert_eq!(hits.len(), 10);
    assert_eq!(hosts(&hits).iter().filter(|host| **host == "crowd.test").count(), 2);
    assert_eq!(hosts(&hits)[..2], ["crowd.test"; 2], "the best candidates stay first");

    let twenty = SearchOptions { limit: 20, ..SearchOptions::default() };
    let hits = fixture.search("otter", &twenty).hits;
    assert_eq!(hits.len(), 20);
    assert_eq!(hosts(&hits[..10]).iter().filter(|host| **host == "crowd.test").count(), 2);

    let restricted = fixture.search("otter site:crowd.test", &SearchOptions::default()).hits;
    assert_eq!(hosts(&restricted), ["crowd.test"; 10]);
    let include = DomainFilter::Include(vec!["crowd.test".to_owned(), "other1.test".to_owned()]);
    let options = SearchOptions { domains: include, ..SearchOptions::default() };
    assert_eq!(hosts(&fixture.search("otter", &options).hits), ["crowd.test"; 10]);
}

#[test]
fn host_fills_the_first_hits_if_other_hosts_have_too_few() {
    let crowd = (0..12).map(|number| {
        page(&format!("crowd.test/{number}"), "Otters", &format!("otter {}", prose(number, 20)))
    });
    let fixture = Fixture::new(crowd.chain([
        page("other.test/", "Animals", "an otter"),
        page("partial.test/", "Badgers", "badger and badger"),
    ]));
    let hits = fixture.search("otter", &SearchOptions::default()).hits;
    assert_eq!(hits.len(), 10);
    assert!(hosts(&hits).contains(&"other.test"));
    let all = SearchOptions { limit: 50, ..SearchOptions::default() };
    assert_eq!(fixture.search("otter", &all).hits.len(), 13);
    let hits = fixture.search("otter badger", &all).hits;
    assert_eq!(hits.len(), 14);
}

#[test]
fn diversity_does_not_move_partial_matches_before_complete_ones() {
    let complete = (0..4)
        .map(|number| page(&format!("a.test/{number}"), "A", &format!("river otter {}", prose(number, 9))));
    let fixture =
        Fixture::new(complete.chain([page("b.test/", "B", "river"), page("c.test/", "C", "river")]));
    let hits = fixture.search("river otter", &SearchOptions::default()).hits;
    assert_eq!(hosts(&hits), ["a.test", "a.test", "a.test", "a.test", "b.test", "c.test"]);
}

#[test]
fn copies_of_a_page_are_one_hit() {
    let text = prose(1, 300);
    let nearly = format!("otter {}", text.replacen("word", "term", 3));
    let text = format!("otter {text}");
    let fixture = Fixture::new([
        page("a.test/otters", "Otters", &text),
        page("mirror.test/copy", "Otters", &text),
        page("nearly.test/", "OTTERS!", &nearly),
        page("own.test/", "Otters", &format!("otter {}", prose(2, 300))),
        page("titled.test/", "Something else", &text),
    ]);
    let hits = fixture.search("otter", &SearchOptions::default()).hits;
    let mut found = hosts(&hits);
    found.sort_unstable();
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[1..], ["own.test", "titled.test"]);
    assert_eq!(
        fixture.search("site:test", &SearchOptions::default()).hits.len(),
        5,
        "a query with filters only lists all URLs"
    );
}

#[test]
fn equivalent_urls_are_one_hit() {
    let fixture = Fixture::new([
        page("a.test/otter", "Otter", "otter"),
        page("www.a.test/otter/", "Otter", "otter"),
        page("a.test/otter?utm_source=letter", "Otter", "otter"),
        page("a.test/otter?page=2", "Otter", "otter"),
    ]);
    assert_eq!(fixture.search("otter", &SearchOptions::default()).hits.len(), 2);
}

#[test]
fn hits_ranked_below_many_copies_are_found() {
    let text = format!("otter otter {}", prose(3, 60));
    let copies = (0..80).map(|number| page(&format!("m{number}.test/"), "Otters", &text));
    let others = (0..5).map(|number| {
        page(&format!("o{number}.test/"), "Animals", &format!("otter {}", prose(number + 9, 90)))
    });
    let fixture = Fixture::new(copies.chain(others));
    assert_eq!(fixture.search("otter", &SearchOptions::default()).hits.len(), 6);
}

#[test]
fn newer_of_equal_pages_ranks_first_and_undated_pages_get_no_bonus() {
    let dated = |address: &str, published: Option<&str>| Document {
        published: published.map(time),
        seen: Some(time("2026-05-01T00:00:00Z")),
        ..page(address, "Otters", "otter in the river")
    };
    let fixture = Fixture::new([
        dated("undated.test/", None),
        dated("old.test/", Some("2010-01-01T00:00:00Z")),
        dated("new.test/", Some("2026-04-01T00:00:00Z")),
        dated("future.test/", Some("2039-01-01T00:00:00Z")),
        page("better.test/", "Otter otter", "otter: the otter"),
    ]);
    let options = SearchOptions { now: time("2026-05-02T00:00:00Z"), ..SearchOptions::default() };
    let hits = fixture.search("otter", &options).hits;
    let order = hosts(&hits);
    assert_eq!(order[..3], ["better.test", "new.test", "old.test"]);
    assert!((hits[3].score - hits[4].score).abs() < 1e-6, "{hits:?}");
}

#[test]
fn long_queries_are_expanded_with_words_of_the_best_candidates() {
    let seals =
        |address: &str| page(address, "Seals", "harbour seal pinniped blubber whiskers pinniped blubber");
    let query = "which marine creatures dive deep under arctic ice";
    let fixture = Fixture::new([
        page("1.test/", "One", "marine creatures dive deep under arctic ice: the pinniped with its blubber"),
        page("2.test/", "Two", "creatures that dive deep under arctic ice: pinniped, blubber, marine life"),
        page("plain.test/", "Plain", "dive into gardens with tulips and roses and daisies"),
        page("related.test/", "Related", "dive with the pinniped and its blubber and its tulips"),
        seals("unasked.test/"),
    ]);
    let hits = fixture.search(query, &SearchOptions::default()).hits;
    assert_eq!(hosts(&hits), ["1.test", "2.test", "related.test", "plain.test"]);
}

#[test]
fn cached_texts_do_not_change_results() {
    let query = "which marine creatures dive deep under arctic ice";
    let pages = (0..40).map(|number| {
        let words: Vec<_> = query.split(' ').skip(number % 8).collect();
        page(&format!("{number}.test/"), "A", &format!("{} {}", words.join(" "), prose(number, 40)))
    });
    let fixture = Fixture::new(pages);
    let first = fixture.search(query, &SearchOptions::default());
    // Another query in between, with some of the same texts.
    fixture.search("marine creatures that dive deep under the polar ice", &SearchOptions::default());
    assert_eq!(fixture.search(query, &SearchOptions::default()), first);
    assert_eq!(first.hits.len(), 10);
}

#[test]
fn diversity_does_not_move_weak_candidates_of_long_queries_forward() {
    let query = "which marine creatures dive deep under arctic ice";
    let strong = (0..4).map(|number| {
        page(
            &format!("a.test/{number}"),
            "A",
            &format!("marine creatures dive deep under arctic ice {number}"),
        )
    });
    let weak = (0..4)
        .map(|number| page(&format!("b{number}.test/"), "B", &format!("ice on roads {}", prose(number, 9))));
    let hits = Fixture::new(strong.chain(weak)).search(query, &SearchOptions::default()).hits;
    assert_eq!(hosts(&hits)[..4], ["a.test"; 4]);
}

#[test]
fn compound_matches_in_all_spellings() {
    let fixture = Fixture::new([
        page("costs.test/", "Costs", &"costs ".repeat(20)),
        page("one.test/", "One", "The healthcare costs of a small town."),
        page("two.test/", "Two", "The health care costs of a small town."),
        page("wifi.test/", "Radio", "A router with wifi in the hall."),
        page("wi-fi.test/", "Waves", "A router with wi-fi in the hall."),
        page("router.test/", "Router", "router router router"),
    ]);
    fixture.check_set("health care", &["one.test/", "two.test/"]);
    let hits = fixture.search("health care costs", &SearchOptions::default()).hits;
    let order = hosts(&hits);
    assert_eq!(order[2..], ["costs.test"], "both spellings have all words: {order:?}");
    let hits = fixture.search("wi-fi router", &SearchOptions::default()).hits;
    let order = hosts(&hits);
    assert_eq!(order[2..], ["router.test"], "both spellings have all words: {order:?}");
    fixture.check("\"health care\"", &["two.test/"]);
}

#[test]
fn compound_is_scored_if_its_parts_are_not_in_the_index() {
    let fixture = Fixture::new([
        page("a.test/", "A", "An antiinflammatory ointment against bruises."),
        page("b.test/", "B", "A list that is literally to do today."),
        page("c.test/", "C", "A todo list of another kind."),
    ]);
    fixture.check("anti-inflammatory", &["a.test/"]);
    fixture.check("to-do", &["b.test/"]);
}

#[test]
fn numbers_are_not_joined_to_compounds() {
    let fixture = Fixture::new([
        page("version.test/", "Version", "What is new in version 3 and in version 3.11 of it."),
        page("issue.test/", "Issue", "Issue 311 and version notes."),
    ]);
    fixture.check_set("version 3.11", &["issue.test/", "version.test/"]);
    fixture.check("3.11", &["version.test/"]);
}

#[test]
fn copies_with_different_query_strings_are_one_hit_with_the_shortest_url() {
    let text = "The gyokuro tea of Uji is shaded for three weeks before it is picked by hand in the early days of \
                May, and brewed in water of fifty degrees.";
    let urls = ["tea.test/gyokuro?batch=0", "tea.test/gyokuro", "tea.test/gyokuro?batch=1&page=2"];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let fixture = Fixture::new(order.map(|index| page(urls[index], "Gyokuro", text)));
        for limit in [1, 5] {
            let found = fixture.search("gyokuro tea", &SearchOptions { limit, ..SearchOptions::default() });
            let found: Vec<&str> = found.hits.iter().map(|hit| hit.url.as_str()).collect();
            assert_eq!(found, ["https://tea.test/gyokuro"], "{order:?}, {limit}");
        }
        // A query can select one of the variants.
        let found = fixture.search("gyokuro inurl:batch", &SearchOptions::default());
        let found: Vec<&str> = found.hits.iter().map(|hit| hit.url.as_str()).collect();
        assert_eq!(found, ["https://tea.test/gyokuro?batch=0"], "{order:?}");
    }
    // Pages with other paths or other texts are not variants.
    let other = "Sencha is a tea of another kind, grown in the sun until it is picked, steamed, rolled and dried, and \
                 brewed in water of seventy degrees.";
    let fixture = Fixture::new([
        page("tea.test/show?id=1", "Tea", text),
        page("tea.test/show", "Tea", other),
        page("tea.test/tea", "Tea", "Tea."),
    ]);
    let found = fixture.search("tea degrees", &SearchOptions::default());
    assert_eq!(found.hits.len(), 3, "{:?}", found.hits);
}
