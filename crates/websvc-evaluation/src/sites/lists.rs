//! Lists that continue on further pages.

use super::article::{Article, Style, fill, h, html, links, p, table};

/// Lamps: names and prices.
const LAMPS: &[(&str, &str)] = &[
    ("Arvid", "49.00"),
    ("Brisa", "129.50"),
    ("Calder", "89.00"),
    ("Dagny", "212.00"),
    ("Elio", "35.90"),
    ("Fenna", "74.25"),
    ("Gustl", "158.00"),
    ("Hollis", "61.00"),
    ("Ilka", "99.95"),
    ("Jora", "340.00"),
    ("Kestrel", "27.50"),
    ("Lumen", "183.40"),
];

/// Open positions: titles and towns, by page.
const POSITIONS: &[&[(&str, &str)]] = &[
    &[("Glazier", "Pellworth"), ("Cost accountant", "Ostrava"), ("Crane operator", "Pellworth")],
    &[("Soil chemist", "Lund"), ("Night porter", "Bergamo"), ("Welder", "Pellworth")],
    &[("Translator", "Lund"), ("Ship's cook", "Ostrava")],
];

/// A month: its path, its name, and its concerts.
type Month = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Concerts by month: dates and names.
const CONCERTS: &[Month] = &[
    ("march", "March", &[("3 March", "Ottilie Quartet"), ("17 March", "The Brass Meadow")]),
    (
        "april",
        "April",
        &[("2 April", "Nils Ferro Trio"), ("11 April", "Choir of St. Blane"), ("30 April", "Duo Sable")],
    ),
    ("may", "May", &[("9 May", "Velvet Ledger"), ("24 May", "Ensemble Quince")]),
];

/// Members by first letter.
const MEMBERS: &[(&str, &[&str])] = &[
    ("a", &["Abbot & Crane Foundry", "Alder Timber"]),
    ("b", &["Birch Hill Dairy"]),
    ("c", &["Copperfield Tools", "Crown Pottery", "Cygnet Press"]),
    ("d", &["Dray Haulage", "Dunmore Glass"]),
];

/// Posts: titles and authors, the newest first.
const POSTS: &[(&str, &str)] = &[
    ("Pruning in frost", "Mara Quill"),
    ("A bench from one plank", "Tom Eddowes"),
    ("Which soil for ferns", "Mara Quill"),
    ("Repairing a gutter", "Tom Eddowes"),
    ("Moss on the north side", "Ines Varga"),
    ("Slugs and how to live with them", "Mara Quill"),
    ("The shed, part two", "Tom Eddowes"),
    ("Rainwater for acid beds", "Ines Varga"),
    ("Seeds older than the gardener", "Mara Quill"),
];

/// Clinics: names and streets.
const CLINICS: &[(&str, &str)] = &[
    ("Willow Clinic", "4 Canal Street"),
    ("Harbour Clinic", "77 Dock Road"),
    ("Northgate Clinic", "12 Abbey Lane"),
    ("Kiln Lane Clinic", "9 Kiln Lane"),
    ("St. Oda Clinic", "31 Market Square"),
    ("Fernside Clinic", "2 Fernside"),
];

pub(super) fn articles() -> Vec<Article> {
    let mut articles = lamps();
    articles.extend(positions());
    articles.extend(concerts());
    articles.extend(members());
    articles.extend(posts());
    articles.extend(clinics());
    articles
}

fn lamps() -> Vec<Article> {
    let page = |(index, part): (usize, &[(&str, &str)])| {
        let number = index + 1;
        let cards: String = part
            .iter()
            .map(|(name, price)| {
                format!(
                    "<div class=card><h3><a href=/item/{}>Lamp {name}</a></h3><p>Hand-made, with a shade of linen.</p>\
                     <p class=price>Price: {price} EUR</p></div>",
                    name.to_lowercase()
                )
            })
            .collect();
        let mut blocks =
            vec![p("Our lamps are made to last."), html(&format!("<div class=grid>{cards}</div>"))];
        if number < 3 {
            blocks.push(html(&format!("<p><a rel=next href='/shop?page={}'>Next page</a></p>", number + 1)));
        }
        blocks.push(fill(3));
        let url = if number == 1 {
            "http://lamps.test/shop".to_owned()
        } else {
            format!("http://lamps.test/shop?page={number}")
        };
        Article::new(&url, &format!("Lamps, page {number} of 3"), Style::Divs, blocks)
    };
    LAMPS.chunks(4).enumerate().map(page).collect()
}

fn positions() -> Vec<Article> {
    let page = |(index, part): (usize, &&[(&str, &str)])| {
        let number = index + 1;
        let mut rows = vec!["Position|Place of work".to_owned()];
        rows.extend(part.iter().map(|(title, town)| format!("{title}|{town}")));
        let mut blocks = vec![fill(2), h("Open positions"), table(&rows), fill(4)];
        if number < POSITIONS.len() {
            blocks.push(links(&[("More positions", &format!("/openings/{}", number + 1))]));
        }
        Article::new(
            &format!("http://jobs.test/openings/{number}"),
            &format!("Work with us ({number})"),
            Style::Semantic,
            blocks,
        )
    };
    POSITIONS.iter().enumerate().map(page).collect()
}

fn concerts() -> Vec<Article> {
    let months: Vec<(&str, String)> =
        CONCERTS.iter().map(|(path, name, _)| (*name, format!("/concerts/{path}"))).collect();
    let menu: Vec<(&str, &str)> = months.iter().map(|(name, url)| (*name, url.as_str())).collect();
    let home = Article::new(
        "http://concerts.test/",
        "Concerts at the Granary",
        Style::Tables,
        vec![fill(4), h("Programme by month"), links(&menu), fill(4)],
    );
    let month = |(path, name, concerts): &Month| {
        let list: String =
            concerts.iter().map(|(date, artist)| format!("<p><b>{date}</b>: {artist}</p>")).collect();
        Article::new(
            &format!("http://concerts.test/concerts/{path}"),
            &format!("Programme: {name}"),
            Style::Tables,
            vec![fill(3), html(&list), fill(5)],
        )
    };
    std::iter::once(home).chain(CONCERTS.iter().map(month)).collect()
}

fn members() -> Vec<Article> {
    let letters: Vec<(String, String)> = MEMBERS
        .iter()
        .map(|(letter, _)| (format!("Members: {}", letter.to_uppercase()), format!("/members/{letter}")))
        .collect();
    let menu: Vec<(&str, &str)> = letters.iter().map(|(text, url)| (text.as_str(), url.as_str())).collect();
    let page = |(letter, names): &(&str, &[&str])| {
        let upper = letter.to_uppercase();
        let list: String = names.iter().map(|name| format!("<li class=member>Member: {name}</li>")).collect();
        Article::new(
            &format!("http://guild.test/members/{letter}"),
            &format!("Members: {upper}"),
            Style::Semantic,
            vec![links(&menu), fill(1), html(&format!("<ul>{list}</ul>")), fill(5)],
        )
    };
    MEMBERS.iter().map(page).collect()
}

fn posts() -> Vec<Article> {
    let count = POSTS.chunks(3).count();
    let page = |(index, part): (usize, &[(&str, &str)])| {
        let number = index + 1;
        let mut blocks = Vec::new();
        for (title, author) in part {
            blocks.push(h(title));
            blocks.push(p(&format!("\"{title}\" was written by {author}.")));
            blocks.push(fill(4));
        }
        if number < count {
            blocks.push(links(&[("Older posts", &format!("/blog/page/{}", number + 1))]));
        }
        Article::new(
            &format!("http://allotment.test/blog/page/{number}"),
            "The allotment blog",
            Style::Divs,
            blocks,
        )
    };
    POSTS.chunks(3).enumerate().map(page).collect()
}

fn clinics() -> Vec<Article> {
    let page = |(index, part): (usize, &[(&str, &str)])| {
        let list: String =
            part.iter().map(|(name, street)| format!("<dt>{name}</dt><dd>Address: {street}</dd>")).collect();
        let numbers: Vec<(String, String)> =
            (1..=3).map(|number| (format!("Page {number}"), format!("/find?p={number}"))).collect();
        let menu: Vec<(&str, &str)> =
            numbers.iter().map(|(text, url)| (text.as_str(), url.as_str())).collect();
        Article::new(
            &format!("http://clinics.test/find?p={}", index + 1),
            &format!("Clinics, page {}", index + 1),
            Style::Bare,
            vec![fill(2), html(&format!("<dl>{list}</dl>")), fill(3), links(&menu)],
        )
    };
    CLINICS.chunks(2).enumerate().map(page).collect()
}
