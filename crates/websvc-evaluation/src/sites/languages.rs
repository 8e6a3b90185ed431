//! Pages that are not in English.

use super::article::{Article, Style, fill, h, items, links, p, table, terms};
use super::text::Language;

pub(super) fn articles() -> Vec<Article> {
    [schwimmbad(), fromagerie(), teatro(), funivia(), biblioteka(), onsen(), planetarij()]
        .into_iter()
        .flatten()
        .collect()
}

fn schwimmbad() -> Vec<Article> {
    vec![
        Article::new(
            "http://schwimmbad.test/",
            "Freibad am Mühlbach",
            Style::Semantic,
            vec![
                fill(6),
                links(&[("Preise und Öffnungszeiten", "/preise"), ("Anfahrt", "/anfahrt")]),
                fill(4),
            ],
        )
        .language(Language::German),
        Article::new(
            "http://schwimmbad.test/preise",
            "Preise und Öffnungszeiten",
            Style::Semantic,
            vec![
                fill(9),
                h("Eintritt"),
                table(&[
                    "Karte|Erwachsene|Kinder",
                    "Einzelkarte|4,80 €|2,40 €",
                    "Zehnerkarte|42,50 €|21,00 €",
                ]),
                p("Das Becken wird am 14. Mai geöffnet und am 11. September geschlossen."),
                fill(8),
            ],
        )
        .language(Language::German),
    ]
}

fn fromagerie() -> Vec<Article> {
    vec![
        Article::new(
            "http://fromagerie.test/histoire",
            "Notre histoire",
            Style::Divs,
            vec![
                fill(12),
                p("La fromagerie a été fondée en 1923 par Élodie Garance, et elle emploie aujourd'hui 1 240 personnes."),
                fill(10),
            ],
        )
        .language(Language::French),
    ]
}

fn teatro() -> Vec<Article> {
    vec![
        Article::new(
            "http://teatro.test/cartelera",
            "Cartelera de otoño",
            Style::Tables,
            vec![
                fill(4),
                items(&[
                    "Función: La noche de las tejas, 12 de octubre",
                    "Función: El último tranvía, 3 de noviembre",
                    "Función: Música de azotea, 21 de noviembre",
                ]),
                fill(8),
            ],
        )
        .language(Language::Spanish),
    ]
}

fn funivia() -> Vec<Article> {
    vec![
        Article::new(
            "http://funivia.test/orari",
            "Orari della funivia",
            Style::Bare,
            vec![
                fill(6),
                terms(&[
                    ("Prima corsa", "07:30"),
                    ("Ultima corsa", "18:10"),
                    ("Durata del viaggio", "11 minuti"),
                ]),
                fill(9),
            ],
        )
        .language(Language::Italian),
    ]
}

fn biblioteka() -> Vec<Article> {
    vec![
        Article::new(
            "http://biblioteka.test/regulamin",
            "Regulamin biblioteki",
            Style::Semantic,
            vec![
                fill(9),
                p("Czytelnik może wypożyczyć jednocześnie najwyżej 8 książek na okres 30 dni."),
                p("Za każdy dzień zwłoki pobiera się opłatę 0,40 zł."),
                fill(9),
            ],
        )
        .language(Language::Polish),
    ]
}

fn onsen() -> Vec<Article> {
    vec![
        Article::new(
            "http://onsen.test/",
            "山の湯のご案内",
            Style::Divs,
            vec![
                fill(9),
                h("料金"),
                p("大人の入浴料は850円、子どもの入浴料は400円です。"),
                p("泉温は摂氏43度です。"),
                fill(9),
            ],
        )
        .language(Language::Japanese),
    ]
}

fn planetarij() -> Vec<Article> {
    vec![
        Article::new(
            "http://planetarij.test/",
            "Планетарий",
            Style::Semantic,
            vec![fill(9), p("Диаметр купола планетария составляет 18 метров, в зале 210 мест."), fill(9)],
        )
        .language(Language::Russian),
    ]
}
