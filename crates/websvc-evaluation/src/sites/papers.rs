//! Documents in PDF, reached directly or by links.

use super::article::{Article, Style, fill, h, links, p, table};

pub(super) fn articles() -> Vec<Article> {
    [water(), glue(), choir(), dam()].into_iter().flatten().collect()
}

fn water() -> Vec<Article> {
    vec![
        Article::new(
            "http://water.test/reports",
            "Reports of the water board",
            Style::Tables,
            vec![
                fill(4),
                links(&[
                    ("Annual report 2022 (PDF)", "/files/annual-2022.pdf"),
                    ("Annual report 2023 (PDF)", "/files/annual-2023.pdf"),
                    ("Statutes (PDF)", "/files/statutes.pdf"),
                ]),
                fill(4),
            ],
        ),
        annual("2022", "48.2", "311", "7.9"),
        annual("2023", "51.7", "318", "7.1"),
        Article::new(
            "http://water.test/files/statutes.pdf",
            "Statutes of the water board",
            Style::Pdf,
            vec![
                fill(16),
                h("Section 9: Quorum"),
                p("The assembly can decide if at least 41 delegates are present."),
                fill(16),
                h("Section 14: Term of office"),
                p("The members of the board are elected for 6 years."),
                fill(10),
            ],
        ),
    ]
}

fn glue() -> Vec<Article> {
    vec![Article::new(
        "http://glue.test/safety.pdf",
        "Safety data sheet: Bondwell wood glue",
        Style::Pdf,
        vec![
            fill(5),
            h("Physical properties"),
            p("Density: 1.08 g per cubic centimetre"),
            p("Flash point: 93 degrees Celsius"),
            p("pH value: 5.5"),
            fill(20),
            h("First aid"),
            fill(6),
        ],
    )]
}

fn choir() -> Vec<Article> {
    vec![Article::new(
        "http://choir.test/programme.pdf",
        "Programme of the spring concert",
        Style::Pdf,
        vec![
            fill(8),
            p("Work 1: Morning on the Fens, by Clara Yelland"),
            p("Work 2: Three Psalms, by Otto Brack"),
            p("Work 3: The Ferryman, by Clara Yelland"),
            p("Work 4: Evening Bell, by Piet Hoorn"),
            fill(8),
        ],
    )]
}

fn dam() -> Vec<Article> {
    vec![
        Article::new(
            "http://dam.test/",
            "The dam at Corrie Glen",
            Style::Semantic,
            vec![
                fill(6),
                links(&[("Technical inspection", "/inspection"), ("Visitors", "/visitors")]),
                fill(4),
            ],
        ),
        Article::new(
            "http://dam.test/inspection",
            "Technical inspection",
            Style::Semantic,
            vec![fill(5), links(&[("Inspection of the dam (PDF)", "/inspection.pdf")]), fill(5)],
        ),
        Article::new(
            "http://dam.test/inspection.pdf",
            "Inspection of the dam at Corrie Glen",
            Style::Pdf,
            vec![
                fill(30),
                h("Conclusions"),
                p("The crest of the dam has settled by 34 millimetres since it was built."),
                p("The spillway can discharge 270 cubic metres a second."),
                fill(14),
            ],
        ),
    ]
}

fn annual(year: &str, revenue: &str, staff: &str, losses: &str) -> Article {
    Article::new(
        &format!("http://water.test/files/annual-{year}.pdf"),
        &format!("Annual report {year}"),
        Style::Pdf,
        vec![
            fill(20),
            h("Key figures"),
            p(&format!("Revenue in {year}: {revenue} million EUR")),
            p(&format!("Employees at the end of {year}: {staff}")),
            p(&format!("Water losses in {year}: {losses} percent")),
            fill(12),
            table(&["Appendix", "The accounts were audited without objections."]),
        ],
    )
}
