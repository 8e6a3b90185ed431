//! Words in other spellings, numbers and compounds: pairs of a query and the pages that it finds.

use websvc_index::{Document, Place, SearchOptions};

use crate::support::{Fixture, page};

/// Asserts that each query finds the page with this name, or with these names, separated by spaces, in any order.
#[track_caller]
fn check_pairs(fixture: &Fixture, pairs: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (query, expected) in pairs {
        let hits = fixture.search(query, &SearchOptions::default()).hits;
        let name =
            |url: &str| url.trim_start_matches("https://").split('.').next().unwrap_or_default().to_owned();
        let mut found: Vec<String> = hits.iter().map(|hit| name(&hit.url)).collect();
        found.sort_unstable();
        if found.join(" ") != *expected {
            wrong.push(format!("{query}: found {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Asserts the name of the first page that each query finds.
#[track_caller]
fn check_first(fixture: &Fixture, pairs: &[(&str, &str)]) {
    for (query, expected) in pairs {
        let hits = fixture.search(query, &SearchOptions::default()).hits;
        let first = hits.first().map(|hit| hit.url.trim_start_matches("https://"));
        assert_eq!(first, Some(format!("{expected}.test/").as_str()), "{query}");
    }
}

fn german(name: &str, text: &str) -> Document {
    let body = format!("{text} Das ist ein Satz, der nicht von dem Thema handelt und nur die Seite füllt.");
    Document { language: Some("de".to_owned()), ..page(&format!("{name}.test/"), "Seite", &body) }
}

fn other(language: &str, name: &str, text: &str) -> Document {
    Document { language: Some(language.to_owned()), ..page(&format!("{name}.test/"), "", text) }
}

#[test]
fn german_words_are_found_in_compounds() {
    let fixture = Fixture::new([
        german("kranken", "Die Krankenversicherung zahlt den Arzt der Kranken."),
        german("strom", "Die Stromrechnungen kommen im Mai, wenn der Strom verbraucht ist."),
        german("haus", "In den Krankenhäusern arbeiten Ärzte für die Kranken."),
        german("schule", "Das Schulbuch ist neu. In der Schule wird gelesen."),
        german("vorstellung", "Die Vorstellung beginnt am Abend, und die Herstellung dauert lange."),
        german("auto", "Ein Auto braucht einen Halter."),
    ]);
    check_pairs(
        &fixture,
        &[
            ("Versicherung", "kranken"),
            ("Versicherungen", "kranken"),
            ("Rechnung", "strom"),
            ("Haus", "haus"),
            ("Häuser", "haus"),
            ("Buch", "schule"),
            ("Stellung", ""),
            ("Strom", "strom"),
            ("Autohalter", "auto"),
            ("Autostrom", "auto strom"),
        ],
    );
}

#[test]
fn page_with_the_word_itself_ranks_before_pages_with_compounds() {
    let fixture = Fixture::new([
        german("compound", "Krankenversicherung, Krankenversicherung der Kranken und Krankenversicherung."),
        german("word", "Eine Versicherung ist ein Vertrag."),
    ]);
    fixture.check("Versicherung", &["word.test/", "compound.test/"]);
}

#[test]
fn words_of_other_germanic_languages_are_found_in_compounds() {
    let fixture = Fixture::new([
        other(
            "nl",
            "nl",
            "De ziektekostenverzekering betaalt de kosten van de ziekte voor iedereen die dat wil.",
        ),
        other("sv", "sv", "Sjukförsäkringen betalar för den som är sjuk och inte kan arbeta under en tid."),
        other("da", "da", "Børnehaven er åben for alle børn og deres forældre, og den har en have."),
        other("no", "no", "Fotballkampen i dag er den siste kampen av året, og fotball er gøy."),
        other("fi", "fi", "Sairausvakuutus maksaa lääkärin, kun sairaus alkaa ja kestää pitkään."),
    ]);
    check_pairs(
        &fixture,
        &[("verzekering", "nl"), ("försäkring", "sv"), ("have", "da"), ("kamp", "no"), ("vakuutus", "fi")],
    );
}

#[test]
fn irregular_plurals_find_their_singular() {
    let fixture = Fixture::new([
        page("mouse.test/", "A", "The mouse is small."),
        page("mice.test/", "B", "These mice are small."),
        page("child.test/", "C", "For each child a toy."),
        page("children.test/", "D", "The children play."),
        page("analysis.test/", "E", "An analysis of variance."),
        page("analyses.test/", "F", "Several analyses of variance."),
    ]);
    check_pairs(
        &fixture,
        &[
            ("mice", "mice mouse"),
            ("mouse", "mice mouse"),
            ("children", "child children"),
            ("child", "child children"),
            ("analyses", "analyses analysis"),
            ("analysis", "analyses analysis"),
        ],
    );
}

#[test]
fn abbreviations_and_names_are_found_in_either_spelling() {
    let fixture = Fixture::new([
        page("dots.test/", "", "Made in the U.S.A. and shipped."),
        page("usa.test/", "", "Made in the USA and shipped."),
        page("us.test/", "", "The U.S. economy grew."),
        page("pronoun.test/", "", "The economy is for all of us, for us and for us."),
        page("apostrophe.test/", "", "A book of O'Reilly."),
        page("plain.test/", "", "The animal books of Oreilly."),
        page("nodejs.test/", "", "A server in NodeJS."),
        page("dot.test/", "", "A server in Node.js."),
        page("email.test/", "", "Send an email."),
        page("hyphen.test/", "", "Send an e-mail."),
        page("title.test/", "Node.js", "A manual."),
    ]);
    check_pairs(
        &fixture,
        &[
            ("U.S.A.", "dots usa"),
            ("USA", "dots usa"),
            ("usa", "dots usa"),
            ("O'Reilly", "apostrophe plain"),
            ("o\u{2019}reilly", "apostrophe plain"),
            ("oreilly", "apostrophe plain"),
            ("node.js", "dot nodejs title"),
            ("nodejs", "dot nodejs title"),
            ("email", "email hyphen"),
            ("e-mail", "email hyphen"),
            ("\"U.S.A.\"", "dots"),
            ("intitle:nodejs", "title"),
            ("intitle:node.js", "title"),
        ],
    );
    check_first(&fixture, &[("US economy", "us"), ("U.S. economy", "us")]);
}

#[test]
fn emoji_are_words() {
    let fixture = Fixture::new([
        page("party.test/", "A", "The release \u{1f389} is out."),
        page("thumb.test/", "B", "Approved \u{1f44d}\u{1f3fd}"),
        page("heart.test/", "C", "I \u{2764}\u{fe0f} tea"),
        page("none.test/", "D", "No picture here."),
    ]);
    check_pairs(
        &fixture,
        &[
            ("\u{1f389}", "party"),
            ("\u{1f389} release", "party"),
            ("\u{1f44d}", "thumb"),
            ("\u{2764}", "heart"),
            ("\u{1f680}", ""),
        ],
    );
}

#[test]
fn arabic_article_and_prefixes_are_optional() {
    let fixture = Fixture::new([
        page("and.test/", "", "والقلم والورق في الحقيبة مع أشياء أخرى من المدرسة."),
        page("book.test/", "الكتاب", "قرأ الطالب الكتاب الجديد في المساء ثم ذهب إلى البيت."),
        page("house.test/", "بيت", "هذا بيت كبير في وسط المدينة القديمة وله باب أخضر."),
    ]);
    check_pairs(
        &fixture,
        &[
            ("كتاب", "book"),
            ("الكتاب", "book"),
            ("والكتاب", "book"),
            ("بالكتاب", "book"),
            ("للكتاب", "book"),
            ("البيت", "book house"),
            ("المدينة", "house"),
            ("مدينة", "house"),
            ("قلم", "and"),
            ("وبالقلم", "and"),
        ],
    );
}

#[test]
fn short_arabic_pages_are_stemmed() {
    let fixture = Fixture::new([page("book.test/", "", "الكتاب"), page("other.test/", "", "tea")]);
    check_pairs(&fixture, &[("كتاب", "book")]);
}

#[test]
fn names_of_one_letter_and_one_word_rank_by_their_spelling() {
    let fixture = Fixture::new([
        page("r.test/", "Statistics", "Plots in R for statistics."),
        page("letter.test/", "Statistics", "Plots of r, where r is the radius, for statistics."),
        page("c.test/", "Manual", "The C language for programs of an operating system."),
        page("cpp.test/", "Manual", "The C++ language and its c-strings for programs, c, c and c."),
        page("go.test/", "Programs", "Written in Go, with channels."),
        page("going.test/", "Going", "They go, go and go: they go to go through channels, and going."),
    ]);
    check_first(
        &fixture,
        &[("R plots", "r"), ("C language", "c"), ("C++ language", "cpp"), ("Go channels", "go")],
    );
}

#[test]
fn numbers_are_found_with_and_without_a_space_before_their_unit() {
    let fixture = Fixture::new([
        page("space.test/", "A", "A bag of 5 kg."),
        page("tight.test/", "B", "A bag of 5kg."),
        page("memory.test/", "C", "A laptop with 16\u{a0}GB."),
        page("other.test/", "D", "A bag for kg 7 and 5 apples."),
        page("cold.test/", "E", "Stored at -80 °C for a year."),
    ]);
    check_first(
        &fixture,
        &[("5kg", "tight"), ("16GB laptop", "memory"), ("-80 °C", "cold"), ("-80°C", "cold")],
    );
    check_pairs(&fixture, &[("5kg", "space tight"), ("16gb", "memory"), ("\"5 kg\"", "space")]);
    let hits = fixture.search("5 kg", &SearchOptions::default()).hits;
    assert_eq!((hits.len(), hits[2].url.as_str()), (3, "https://other.test/"), "{hits:?}");
}

#[test]
fn sharp_s_and_ss_are_one_spelling() {
    let fixture = Fixture::new([
        german("sharp", "Die Straße ist nass, weil es regnet."),
        german("double", "Die Strasse ist nass, weil es regnet."),
    ]);
    check_pairs(
        &fixture,
        &[
            ("Straße", "double sharp"),
            ("Strasse", "double sharp"),
            ("STRASSE", "double sharp"),
            ("STRAẞE", "double sharp"),
            ("\"die strasse\"", "double sharp"),
            ("Straßen", "double sharp"),
        ],
    );
}

#[test]
fn city_and_region_of_the_user_rank_first() {
    let fixture = Fixture::new([
        page("hamburg.test/", "Pizza in Hamburg", "Pizza, pizza and pizza of Hamburg."),
        page(
            "munich.test/",
            "Pizza in Munich",
            "The best pizza of the city, with olives, tomatoes and basil.",
        ),
        page("muenchen.test/", "Pizza", "Pizza in München with olives, tomatoes and basil for everyone."),
        page("region.test/", "Pizza", "Pizza in Bavaria with olives, tomatoes and basil for everyone."),
    ]);
    let place = |names: &[&str], is_region| Place {
        names: names.iter().map(|&name| name.to_owned()).collect(),
        is_region,
    };
    let places = vec![place(&["Munich", "München"], false), place(&["Bavaria"], true)];
    let options = SearchOptions { places, ..SearchOptions::default() };
    check_first(&fixture, &[("pizza", "hamburg")]);
    let order = ["munich.test/", "muenchen.test/", "region.test/", "hamburg.test/"];
    fixture.check_with("pizza", &options, &order);
}

#[test]
fn pages_of_the_city_are_found_among_many_others() {
    let other =
        |number: usize| page(&format!("h{number}.test/"), "Pizza", "Pizza, pizza and pizza of Hamburg.");
    let pages =
        (0..200).map(other).chain([page("m.test/", "Food", "Pasta, salad, bread and pizza of Munich.")]);
    let fixture = Fixture::new(pages);
    let places = vec![Place { names: vec!["Munich".to_owned()], is_region: false }];
    let hits = fixture.search("pizza", &SearchOptions { places, ..SearchOptions::default() }).hits;
    assert_eq!(hits[0].url, "https://m.test/");
}
