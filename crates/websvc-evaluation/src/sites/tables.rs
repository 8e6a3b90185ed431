//! Tables: long ones, with spans, with several header rows, and next to similar ones.

use super::article::{Article, Style, fill, h, html, p, table};

/// Beginnings and ends of the names of towns.
const FIRST: [&str; 10] = ["Ash", "Brook", "Carl", "Dun", "Elm", "Fair", "Gren", "Hart", "Kirk", "Long"];
const LAST: [&str; 8] = ["bury", "combe", "ford", "ham", "ley", "mere", "thorpe", "wick"];

pub(super) fn articles() -> Vec<Article> {
    [county(), ferry(), league(), power(), oats(), kiln()].into_iter().flatten().collect()
}

fn county() -> Vec<Article> {
    vec![towns()]
}

fn ferry() -> Vec<Article> {
    vec![Article::new(
        "http://ferry.test/timetable",
        "Timetable of the island ferry",
        Style::Tables,
        vec![
            fill(5),
            h("Monday to Friday"),
            table(&[
                "Pier|First boat|Last boat|Minutes",
                "Oystercliff|06:40|20:10|25",
                "Saltmarsh|07:05|20:35|40",
                "Gannet Rock|07:45|19:20|65",
            ]),
            h("Sunday"),
            table(&[
                "Pier|First boat|Last boat|Minutes",
                "Oystercliff|09:10|18:30|25",
                "Saltmarsh|09:35|18:55|40",
                "Gannet Rock|10:15|17:40|65",
            ]),
            fill(9),
        ],
    )]
}

fn league() -> Vec<Article> {
    vec![Article::new(
        "http://league.test/table",
        "Northern bowls league: final table",
        Style::Semantic,
        vec![
            fill(7),
            table(&[
                "Rank|Club|Played|Won|Lost|Points",
                "1|Heather Lane|22|17|5|51",
                "2|Quarry Green|22|16|6|48",
                "3|Old Tannery|22|14|8|42",
                "4|Pike Hill|22|13|9|39",
                "5|Signal Park|22|9|13|27",
                "6|Weavers|22|4|18|12",
            ]),
            fill(10),
        ],
    )]
}

fn power() -> Vec<Article> {
    vec![Article::new(
        "http://power.test/tariffs",
        "Electricity tariffs",
        Style::Divs,
        vec![
            fill(6),
            html(
                "<table><thead><tr><th rowspan=2>Tariff</th><th colspan=2>Unit price in cents</th><th rowspan=2>Standing \
                     charge</th></tr><tr><th>Day</th><th>Night</th></tr></thead><tbody>\
                     <tr><td>Basic</td><td>31.4</td><td>31.4</td><td>8.90</td></tr>\
                     <tr><td>Twin</td><td>33.8</td><td>22.6</td><td>10.40</td></tr>\
                     <tr><td>Garden</td><td>29.9</td><td>27.1</td><td>14.75</td></tr></tbody></table>",
            ),
            fill(12),
            p("All prices include value added tax."),
        ],
    )]
}

fn oats() -> Vec<Article> {
    vec![Article::new(
        "http://oats.test/nutrition",
        "Rolled oats: nutrition",
        Style::Semantic,
        vec![
            fill(4),
            table(&[
                "Nutrient|per 100 g|per portion (40 g)",
                "Energy|372 kcal|149 kcal",
                "Fat|7.0 g|2.8 g",
                "Carbohydrate|58.7 g|23.5 g",
                "Fibre|10.3 g|4.1 g",
                "Protein|13.5 g|5.4 g",
                "Salt|0.02 g|0.01 g",
            ]),
            fill(9),
        ],
    )]
}

fn kiln() -> Vec<Article> {
    vec![Article::new(
        "http://kiln.test/programs",
        "Kiln programs",
        Style::Bare,
        vec![
            fill(8),
            h("Glaze firing"),
            table(&[
                "Stage|Rise per hour|Target|Hold",
                "Drying|60 K|120 C|90 min",
                "Burning out|100 K|600 C|0 min",
                "Melting|180 K|1060 C|20 min",
            ]),
            fill(6),
            h("Stoneware firing"),
            table(&[
                "Stage|Rise per hour|Target|Hold",
                "Drying|50 K|110 C|120 min",
                "Burning out|80 K|620 C|15 min",
                "Melting|150 K|1235 C|35 min",
            ]),
            fill(6),
        ],
    )]
}

/// Returns a page with eighty towns.
fn towns() -> Article {
    let mut rows = vec!["Town|Population|Area in km2|Mayor".to_owned()];
    for (outer, first) in (0_u32..).zip(FIRST) {
        for (inner, last) in (0_u32..).zip(LAST) {
            let number = outer * 8 + inner;
            let population = 900 + (number * 7919) % 48_611;
            let area = 11 + (number * 37) % 90;
            rows.push(format!(
                "{first}{last}|{},{:03}|{area}|{} {}son",
                population / 1000,
                population % 1000,
                ["Ada", "Ben", "Cleo", "Dev", "Esme"][usize::try_from(number % 5).unwrap_or_default()],
                FIRST[usize::try_from((number * 3 + outer) % 10).unwrap_or_default()]
            ));
        }
    }
    // Towns below a thousand people have no separator.
    let rows: Vec<String> = rows.into_iter().map(|row| row.replace("|0,", "|")).collect();
    Article::new(
        "http://county.test/towns",
        "The towns of the county",
        Style::Semantic,
        vec![fill(5), h("All towns"), table(&rows), fill(8)],
    )
}
