//! Pairs of sites that offer the same kind of thing in different words and markup.

use super::article::{Article, Style, fill, h, items, links, p, table, terms};

pub(super) fn articles() -> Vec<Article> {
    let mut articles = hotels();
    articles.extend(telephones());
    articles.extend(banks());
    articles.extend(universities());
    articles.extend(gyms());
    articles.extend(printers());
    articles
}

fn hotels() -> Vec<Article> {
    vec![
        Article::new(
            "http://hotel-aurora.test/",
            "Hotel Aurora",
            Style::Semantic,
            vec![fill(9), h("Rooms"), p("A double room costs 118 EUR a night, breakfast included."), fill(9)],
        ),
        Article::new(
            "http://hotel-borealis.test/",
            "Hotel Borealis",
            Style::Divs,
            vec![
                fill(11),
                h("Our rates"),
                table(&["Room|Rate per night", "Single|84 EUR", "Double|104 EUR", "Suite|230 EUR"]),
                fill(8),
            ],
        ),
    ]
}

fn telephones() -> Vec<Article> {
    vec![
        Article::new(
            "http://telefon-kite.test/kite-3",
            "Kite 3",
            Style::Divs,
            vec![
                fill(8),
                h("Data sheet"),
                terms(&[("Weight", "187 g"), ("Display", "6.1 inches"), ("Charging", "25 W")]),
                fill(12),
            ],
        ),
        Article::new(
            "http://plover-phones.test/products/plover-one",
            "Plover One",
            Style::Semantic,
            vec![
                fill(10),
                p("At 164 grams, the Plover One is easily forgotten in a pocket."),
                fill(6),
                p("Its screen measures 5.8 inches from corner to corner."),
                fill(9),
            ],
        ),
    ]
}

fn banks() -> Vec<Article> {
    vec![
        Article::new(
            "http://millbank.test/",
            "Mill Bank",
            Style::Tables,
            vec![fill(6), links(&[("Savings", "/savings"), ("Loans", "/loans")]), fill(4)],
        ),
        Article::new(
            "http://millbank.test/savings",
            "Savings",
            Style::Tables,
            vec![
                fill(8),
                p("We pay 2.35 percent a year on the One Year Bond, from the first euro."),
                p("Instant access savings earn 0.80 percent."),
                fill(8),
            ],
        ),
        Article::new(
            "http://millbank.test/loans",
            "Loans",
            Style::Tables,
            vec![fill(8), p("Loans start at 6.90 percent a year."), fill(4)],
        ),
        Article::new(
            "http://ostler-bank.test/bonds",
            "Bonds at Ostler",
            Style::Semantic,
            vec![
                fill(7),
                table(&["Term|Interest", "One year|2.60 %", "Two years|2.75 %", "Five years|3.10 %"]),
                fill(10),
            ],
        ),
    ]
}

fn universities() -> Vec<Article> {
    vec![
        Article::new(
            "http://uni-vell.test/facts",
            "Facts about the University of Vell",
            Style::Divs,
            vec![
                fill(5),
                terms(&[("Founded", "1764"), ("Students", "23,450"), ("Faculties", "9"), ("Staff", "4,120")]),
                fill(12),
            ],
        ),
        Article::new(
            "http://uni-marrow.test/about",
            "About the University of Marrow",
            Style::Semantic,
            vec![
                fill(9),
                p(
                    "The university opened its doors in 1819, and today 18,900 students are enrolled in 7 faculties.",
                ),
                fill(12),
            ],
        ),
    ]
}

fn gyms() -> Vec<Article> {
    vec![
        Article::new(
            "http://gym-anvil.test/",
            "Anvil Gym",
            Style::Bare,
            vec![
                fill(7),
                items(&["Monthly fee: 29.90 EUR", "Joining fee: 45.00 EUR", "Minimum term: 12 months"]),
                fill(9),
            ],
        ),
        Article::new(
            "http://gym-feather.test/prices",
            "Feather Fitness: prices",
            Style::Divs,
            vec![
                fill(10),
                p(
                    "Members pay 34.50 EUR each month. There is no fee for joining, and you can leave after 1 month.",
                ),
                fill(9),
            ],
        ),
    ]
}

fn printers() -> Vec<Article> {
    vec![
        Article::new(
            "http://inkwell.test/p/inkwell-220",
            "Inkwell 220",
            Style::Semantic,
            vec![fill(8), h("Speed"), p("The Inkwell 220 prints 22 pages a minute in black."), fill(9)],
        ),
        Article::new(
            "http://quill-print.test/models/q9",
            "Quill Q9",
            Style::Tables,
            vec![
                fill(6),
                table(&[
                    "Property|Value",
                    "Pages per minute, black|28",
                    "Pages per minute, color|14",
                    "Noise|49 dB",
                ]),
                fill(9),
            ],
        ),
    ]
}
