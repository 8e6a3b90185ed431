//! Long pages with single facts deep inside.

use super::article::{Article, Style, fill, h, html, items, links, p, terms};

pub(super) fn articles() -> Vec<Article> {
    [museum(), device(), lighthouse(), library(), railway(), wool()].into_iter().flatten().collect()
}

fn museum() -> Vec<Article> {
    vec![
        Article::new(
            "http://museum.test/",
            "Tidewater Museum",
            Style::Semantic,
            vec![
                p("The Tidewater Museum shows the life of the people at the mouth of the river."),
                fill(6),
                h("More about us"),
                links(&[
                    ("Plan your visit", "/visit"),
                    ("Our history", "/history"),
                    ("Friends of the museum", "/friends"),
                ]),
            ],
        ),
        Article::new(
            "http://museum.test/visit",
            "Plan your visit",
            Style::Semantic,
            vec![
                fill(18),
                h("Opening hours"),
                p("The galleries open at 10:15 on every day but Monday and close at 17:45."),
                fill(14),
                h("Tickets"),
                p(
                    "Children under twelve enter for free. Adults pay 14.50 EUR at the entrance, students pay 9.00 EUR.",
                ),
                p("A guided tour costs 38 EUR for a group and has to be booked two weeks ahead."),
                fill(16),
            ],
        ),
        Article::new(
            "http://museum.test/history",
            "Our history",
            Style::Semantic,
            vec![
                fill(22),
                p(
                    "It was Agnes Thorley, a harbor pilot's daughter, who founded the museum in 1887 with eleven ship models.",
                ),
                fill(20),
                p("The west gallery was added in 1931, the glass roof in 1994."),
                fill(8),
            ],
        ),
        Article::new(
            "http://museum.test/friends",
            "Friends of the museum",
            Style::Semantic,
            vec![
                fill(12),
                p("Members pay 45 EUR a year and enter the galleries as often as they like."),
                fill(6),
            ],
        ),
    ]
}

fn device() -> Vec<Article> {
    vec![Article::new(
        "http://device.test/manual",
        "Fieldmeter 7: user manual",
        Style::Divs,
        vec![
            h("Before you begin"),
            fill(15),
            h("Charging"),
            fill(5),
            p(
                "The built-in battery holds 4350 mAh and is full after about two hours at the supplied charger.",
            ),
            fill(12),
            h("Probe"),
            p("The probe tolerates up to 185 degrees Celsius for short periods."),
            fill(15),
            h("Storage"),
            fill(10),
        ],
    )]
}

fn lighthouse() -> Vec<Article> {
    vec![Article::new(
        "http://lighthouse.test/carrow-point",
        "Carrow Point Light",
        Style::Tables,
        vec![
            fill(9),
            p("Carrow Point Light stands on a reef at the end of the peninsula."),
            fill(12),
            p(
                "From the rock to the lantern, the tower of Carrow Point Light measures 47 metres, and its light reaches 21 nautical miles.",
            ),
            fill(12),
            p("The neighboring tower at Skarn Ness measures 33 metres."),
            fill(9),
        ],
    )]
}

fn library() -> Vec<Article> {
    vec![Article::new(
        "http://library.test/",
        "Harrow Street Library",
        Style::Bare,
        vec![
            fill(10),
            h("Departments"),
            terms(&[
                ("Loans", "Telephone 020 7946 0112"),
                ("Reading room", "Telephone 020 7946 0815"),
                ("Music collection", "Telephone 020 7946 0377"),
            ]),
            fill(14),
        ],
    )]
}

fn railway() -> Vec<Article> {
    vec![Article::new(
        "http://railway.test/stations/milford-halt",
        "Milford Halt",
        Style::Divs,
        vec![
            fill(8),
            h("Station facts"),
            terms(&[
                ("Platforms", "2"),
                ("First departure on weekdays", "05:12"),
                ("Last departure on weekdays", "23:48"),
                ("Station code", "MFH"),
            ]),
            fill(10),
            h("Access"),
            items(&["A lift serves both platforms.", "There are 64 covered bicycle stands."]),
            fill(8),
        ],
    )]
}

fn wool() -> Vec<Article> {
    vec![Article::new(
        "http://wool.test/faq",
        "Questions about orders",
        Style::Semantic,
        vec![
            fill(6),
            html(
                "<details><summary>How long does delivery take?</summary><p>Parcels arrive within four working days.</p>\
                     </details><details><summary>Can I return wool?</summary><p>You can send back unopened skeins within 45 \
                     days of delivery.</p></details><details><summary>Do you dye to order?</summary><p>Yes, from 12 skeins \
                     of one color.</p></details>",
            ),
            fill(9),
        ],
    )]
}
