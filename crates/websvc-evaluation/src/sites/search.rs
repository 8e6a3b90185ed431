//! Sites of many pages that the index of the service has crawled.

use super::article::{Article, Style, fill, h, links, p, terms};

/// Herbs: names, heights in centimetres, months of flowers, and scents.
const HERBS: &[(&str, &str, &str, &str)] = &[
    ("Marsh thyme", "24", "July", "lemon"),
    ("Greywort", "61", "August", "camphor"),
    ("Candle mint", "38", "June", "anise"),
    ("Bitter lovage", "142", "July", "celery"),
    ("Hill savory", "19", "September", "pepper"),
    ("Stone sage", "55", "May", "honey"),
    ("False tarragon", "87", "August", "hay"),
    ("Dwarf angelica", "46", "June", "musk"),
];

/// Minerals: names, hardness, and places where they were first found.
const MINERALS: &[(&str, &str, &str)] = &[
    ("Ardenite", "6.5", "Salmchateau"),
    ("Belcovite", "3.5", "Karsk"),
    ("Corvanite", "7.2", "Mount Ister"),
    ("Dellaspar", "4.8", "Vierfontein"),
    ("Ekmanite", "2.6", "Grythyttan"),
    ("Ferrolime", "5.9", "Tolfa"),
];

/// Bridges: names, rivers, lengths in metres, and years of opening.
const BRIDGES: &[(&str, &str, &str, &str)] = &[
    ("Saint Orm Bridge", "Lune", "412", "1908"),
    ("Weir Bridge", "Lune", "96", "1874"),
    ("Copper Bridge", "Tesk", "233", "1962"),
    ("Long Span", "Tesk", "871", "1999"),
];

pub(super) fn articles() -> Vec<Article> {
    let mut articles = herbs();
    articles.extend(minerals());
    articles.extend(bridges());
    articles.extend(recipes());
    articles
}

/// Returns the path of a page with this name.
fn path(name: &str) -> String {
    format!("/{}", name.to_lowercase().replace(' ', "-"))
}

fn home(url: &str, title: &str, style: Style, names: &[&str]) -> Article {
    let paths: Vec<(String, &str)> = names.iter().map(|&name| (path(name), name)).collect();
    let menu: Vec<(&str, &str)> = paths.iter().map(|(path, name)| (*name, path.as_str())).collect();
    Article::new(url, title, style, vec![fill(2), links(&menu), fill(2)])
}

fn herbs() -> Vec<Article> {
    let names: Vec<&str> = HERBS.iter().map(|herb| herb.0).collect();
    let page = |(name, height, month, scent): &(&str, &str, &str, &str)| {
        Article::new(
            &format!("http://herbs.test{}", path(name)),
            name,
            Style::Semantic,
            vec![
                p(&format!("{name} is a herb of gardens and meadows.")),
                fill(5),
                p(&format!("{name} grows to a height of {height} centimetres and flowers in {month}.")),
                fill(4),
                p(&format!("Its leaves have a scent of {scent}.")),
                fill(3),
            ],
        )
    };
    std::iter::once(home("http://herbs.test/", "A book of herbs", Style::Semantic, &names))
        .chain(HERBS.iter().map(page))
        .collect()
}

fn minerals() -> Vec<Article> {
    let names: Vec<&str> = MINERALS.iter().map(|mineral| mineral.0).collect();
    let page = |(name, hardness, place): &(&str, &str, &str)| {
        Article::new(
            &format!("http://minerals.test{}", path(name)),
            name,
            Style::Divs,
            vec![
                p(&format!("{name} is a mineral of the cabinet.")),
                fill(4),
                h("Properties"),
                terms(&[("Mohs hardness", hardness), ("First found at", place)]),
                fill(6),
            ],
        )
    };
    std::iter::once(home("http://minerals.test/", "Cabinet of minerals", Style::Divs, &names))
        .chain(MINERALS.iter().map(page))
        .collect()
}

fn bridges() -> Vec<Article> {
    let names: Vec<&str> = BRIDGES.iter().map(|bridge| bridge.0).collect();
    let page = |(name, river, length, year): &(&str, &str, &str, &str)| {
        Article::new(
            &format!("http://bridges.test{}", path(name)),
            name,
            Style::Tables,
            vec![
                fill(4),
                p(&format!("The {name} crosses the river {river} on a length of {length} metres.")),
                fill(3),
                p(&format!("It was opened to traffic in {year}.")),
                fill(4),
            ],
        )
    };
    std::iter::once(home("http://bridges.test/", "Bridges of the province", Style::Tables, &names))
        .chain(BRIDGES.iter().map(page))
        .collect()
}

fn recipes() -> Vec<Article> {
    let page = |name: &str, flour: &str, minutes: &str| {
        Article::new(
            &format!("http://recipes-of-lenn.test{}", path(name)),
            name,
            Style::Bare,
            vec![
                fill(2),
                h("Ingredients"),
                p(&format!("Take {flour} g of flour and a pinch of salt.")),
                fill(2),
                p(&format!("Bake the {name} for {minutes} minutes until it is brown.")),
                fill(2),
            ],
        )
    };
    vec![
        home(
            "http://recipes-of-lenn.test/",
            "Recipes of Lenn",
            Style::Bare,
            &["Quince tart", "Onion braid", "Millet cake"],
        ),
        page("Quince tart", "260", "47"),
        page("Onion braid", "540", "35"),
        page("Millet cake", "180", "62"),
    ]
}
