//! Pages whose data has lists in lists.

use super::article::{Article, Style, fill, h, html, items, links, p, table};

pub(super) fn articles() -> Vec<Article> {
    let mut articles = vec![menu(), conference(), zoo(), parts()];
    articles.extend(festival());
    articles.extend(school());
    articles
}

fn menu() -> Article {
    Article::new(
        "http://inn.test/menu",
        "The Ploughman's Inn: menu",
        Style::Semantic,
        vec![
            p("We cook with what the valley gives."),
            h("Section: Soups"),
            items(&["Dish: Nettle soup - 6.50 EUR", "Dish: Beetroot broth - 5.90 EUR"]),
            h("Section: Mains"),
            items(&[
                "Dish: Trout with almonds - 17.80 EUR",
                "Dish: Barley risotto - 13.20 EUR",
                "Dish: Lamb pie - 16.40 EUR",
            ]),
            h("Section: Puddings"),
            items(&["Dish: Plum crumble - 6.10 EUR"]),
            fill(5),
        ],
    )
}

fn conference() -> Article {
    Article::new(
        "http://grain-conference.test/programme",
        "Grain storage conference: programme",
        Style::Divs,
        vec![
            fill(3),
            h("Day: Monday"),
            table(&[
                "Time|Talk|Speaker",
                "09:00|Silos of the past|Ruth Ambler",
                "10:30|Weevils by sound|Dmitri Holt",
            ]),
            h("Day: Tuesday"),
            table(&[
                "Time|Talk|Speaker",
                "09:15|Cooling with night air|Ana Prieto",
                "11:00|Sensors in sacks|Kwame Boadu",
                "14:00|Fire in dust|Ruth Ambler",
            ]),
            fill(5),
        ],
    )
}

fn zoo() -> Article {
    Article::new(
        "http://zoo.test/animals",
        "Houses and animals",
        Style::Tables,
        vec![
            fill(2),
            html(
                "<h3>House: Reptiles</h3><p>Keeper: Ilse Maron</p><p>Animals: <b>Gila monster</b>; <b>Corn snake</b></p>\
                 <h3>House: Night</h3><p>Keeper: Bo Carling</p><p>Animals: <b>Aye-aye</b>; <b>Slow loris</b>; <b>Potto</b></p>\
                 <h3>House: Insects</h3><p>Keeper: Una Keane</p><p>Animals: <b>Leaf insect</b></p>",
            ),
            fill(4),
        ],
    )
}

fn parts() -> Article {
    Article::new(
        "http://kits.test/weaving-loom",
        "Weaving loom: parts",
        Style::Bare,
        vec![
            fill(3),
            h("Assembly: Frame"),
            table(&["Part|Pieces", "Side post|2", "Cross bar|4", "Carriage bolt|12"]),
            h("Assembly: Shed"),
            table(&["Part|Pieces", "Heddle shaft|4", "Treadle|6"]),
            fill(5),
        ],
    )
}

/// A festival whose stages have pages of their own.
fn festival() -> Vec<Article> {
    let stage = |path: &str, name: &str, acts: &[&str]| {
        let list: Vec<String> = acts.iter().map(|act| format!("Act: {act}")).collect();
        let list: Vec<&str> = list.iter().map(String::as_str).collect();
        Article::new(
            &format!("http://festival.test/stages/{path}"),
            name,
            Style::Semantic,
            vec![p(&format!("Stage: {name}")), items(&list), fill(4)],
        )
    };
    vec![
        Article::new(
            "http://festival.test/",
            "Meadow festival",
            Style::Semantic,
            vec![
                fill(3),
                links(&[("River stage", "/stages/river"), ("Barn stage", "/stages/barn")]),
                fill(3),
            ],
        ),
        stage("river", "River stage", &["Holm & Hazel", "The Last Ferry", "Opal Street"]),
        stage("barn", "Barn stage", &["Dust Choir", "Mina Farrow"]),
    ]
}

/// A school whose classes have pages of their own.
fn school() -> Vec<Article> {
    let class = |path: &str, name: &str, teacher: &str, subjects: &str| {
        Article::new(
            &format!("http://school.test/classes/{path}"),
            name,
            Style::Divs,
            vec![
                fill(2),
                p(&format!("{name} is led by {teacher}.")),
                p(&format!("Clubs of {name}: {subjects}.")),
                fill(3),
            ],
        )
    };
    vec![
        Article::new(
            "http://school.test/",
            "Hilltop School",
            Style::Divs,
            vec![
                fill(3),
                links(&[
                    ("Class One", "/classes/one"),
                    ("Class Two", "/classes/two"),
                    ("Class Three", "/classes/three"),
                ]),
                fill(3),
            ],
        ),
        class("one", "Class One", "Edda Moss", "chess, weaving"),
        class("two", "Class Two", "Paul Okoro", "rowing"),
        class("three", "Class Three", "Lin Su", "astronomy, fencing, baking"),
    ]
}
