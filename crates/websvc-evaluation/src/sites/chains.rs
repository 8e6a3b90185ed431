//! Sites whose answer is two or three links away from the start.

use super::article::{Article, Style, fill, h, items, links, p, table, terms};

pub(super) fn articles() -> Vec<Article> {
    let mut articles = company();
    articles.extend(band());
    articles.extend(council());
    articles.extend(course());
    articles.extend(maker());
    articles.extend(river());
    articles
}

fn company() -> Vec<Article> {
    let home = vec![
        fill(5),
        links(&[
            ("Products", "/products"),
            ("About us", "/about"),
            ("Careers", "/careers"),
            ("Press", "/press"),
        ]),
        fill(4),
    ];
    let about = vec![
        fill(9),
        links(&[
            ("Leadership", "/about/leadership"),
            ("Sites", "/about/sites"),
            ("Annual reports", "/about/reports"),
        ]),
        fill(5),
    ];
    let leadership = vec![
        fill(6),
        links(&[
            ("Petra Lindqvist, chief executive", "/people/petra-lindqvist"),
            ("Omar Haddad, chief engineer", "/people/omar-haddad"),
            ("Jo Whitlock, finance", "/people/jo-whitlock"),
        ]),
        fill(6),
    ];
    let engineer = vec![
        fill(7),
        p("Omar Haddad studied mechanics in Trieste and joined the company in 2009 as a designer of valves."),
        fill(9),
    ];
    let executive = vec![
        fill(7),
        p("Petra Lindqvist studied economics in Uppsala and joined the company in 2015."),
        fill(7),
    ];
    vec![
        Article::new("http://valves.test/", "Corrant Valves", Style::Semantic, home),
        Article::new("http://valves.test/about", "About us", Style::Semantic, about),
        Article::new("http://valves.test/about/leadership", "Leadership", Style::Semantic, leadership),
        Article::new(
            "http://valves.test/people/omar-haddad",
            "Omar Haddad, chief engineer",
            Style::Semantic,
            engineer,
        ),
        Article::new(
            "http://valves.test/people/petra-lindqvist",
            "Petra Lindqvist",
            Style::Semantic,
            executive,
        ),
        Article::new("http://valves.test/products", "Products", Style::Semantic, vec![fill(12)]),
        Article::new("http://valves.test/press", "Press", Style::Semantic, vec![fill(12)]),
    ]
}

fn band() -> Vec<Article> {
    vec![
        Article::new(
            "http://records.test/artists",
            "Artists",
            Style::Divs,
            vec![
                fill(3),
                links(&[
                    ("Copper Wren", "/artists/copper-wren"),
                    ("The Tallow Men", "/artists/tallow-men"),
                    ("Vesper Hill", "/artists/vesper-hill"),
                ]),
                fill(3),
            ],
        ),
        Article::new(
            "http://records.test/artists/copper-wren",
            "Copper Wren",
            Style::Divs,
            vec![
                fill(8),
                h("Albums"),
                links(&[
                    ("Low Water (2016)", "/albums/low-water"),
                    ("Ember Days (2021)", "/albums/ember-days"),
                ]),
                fill(4),
            ],
        ),
        Article::new(
            "http://records.test/albums/ember-days",
            "Ember Days",
            Style::Divs,
            vec![
                fill(4),
                table(&[
                    "No.|Song|Length",
                    "1|Kindling|3:41",
                    "2|Slow Orchard|5:27",
                    "3|Paper Boats|2:58",
                    "4|Ash|6:12",
                ]),
                fill(5),
            ],
        ),
        Article::new(
            "http://records.test/albums/low-water",
            "Low Water",
            Style::Divs,
            vec![fill(4), table(&["No.|Song|Length", "1|Reeds|4:02", "2|Slow Orchard (demo)|4:44"]), fill(5)],
        ),
    ]
}

fn council() -> Vec<Article> {
    vec![
        Article::new(
            "http://council.test/",
            "Brandle Town Council",
            Style::Tables,
            vec![
                fill(6),
                links(&[
                    ("Waste and recycling", "/waste"),
                    ("Parking", "/parking"),
                    ("Planning", "/planning"),
                ]),
                fill(4),
            ],
        ),
        Article::new(
            "http://council.test/waste",
            "Waste and recycling",
            Style::Tables,
            vec![
                fill(8),
                links(&[("Bulky items", "/waste/bulky"), ("Garden waste", "/waste/garden")]),
                fill(4),
            ],
        ),
        Article::new(
            "http://council.test/waste/bulky",
            "Bulky items",
            Style::Tables,
            vec![
                fill(9),
                p("We collect up to 5 bulky items for a fee of 27.50 GBP. Fridges cost extra."),
                p("Please book a collection at least 6 working days ahead."),
                fill(8),
            ],
        ),
        Article::new(
            "http://council.test/waste/garden",
            "Garden waste",
            Style::Tables,
            vec![fill(9), p("A brown bin for garden waste costs 48.00 GBP a year."), fill(8)],
        ),
        Article::new("http://council.test/parking", "Parking", Style::Tables, vec![fill(9)]),
    ]
}

fn course() -> Vec<Article> {
    vec![
        Article::new(
            "http://evening-school.test/courses",
            "Courses in autumn",
            Style::Semantic,
            vec![
                fill(4),
                links(&[
                    ("Bookbinding for beginners", "/courses/bookbinding"),
                    ("Bookkeeping", "/courses/bookkeeping"),
                    ("Beekeeping", "/courses/beekeeping"),
                ]),
                fill(4),
            ],
        ),
        Article::new(
            "http://evening-school.test/courses/bookbinding",
            "Bookbinding for beginners",
            Style::Semantic,
            vec![
                fill(7),
                p("Eight evenings in the workshop."),
                links(&[("Lecturer: Sunniva Aas", "/staff/aas")]),
                fill(5),
            ],
        ),
        Article::new(
            "http://evening-school.test/staff/aas",
            "Sunniva Aas",
            Style::Semantic,
            vec![
                fill(6),
                terms(&[
                    ("Office", "Room B 214"),
                    ("Consultation", "Thursday, 16:30"),
                    ("Languages", "Norwegian, English"),
                ]),
                fill(6),
            ],
        ),
        Article::new(
            "http://evening-school.test/courses/beekeeping",
            "Beekeeping",
            Style::Semantic,
            vec![fill(7), links(&[("Lecturer: Hugo Brandt", "/staff/brandt")]), fill(5)],
        ),
    ]
}

fn maker() -> Vec<Article> {
    vec![
        Article::new(
            "http://toolshop.test/p/block-plane",
            "Block plane no. 60",
            Style::Divs,
            vec![
                fill(6),
                items(&["Iron: 35 mm", "Body: cast iron"]),
                links(&[("Maker: Tarn & Sons", "http://tarn-and-sons.test/")]),
                fill(6),
            ],
        ),
        Article::new(
            "http://tarn-and-sons.test/",
            "Tarn & Sons, plane makers",
            Style::Bare,
            vec![fill(5), links(&[("Workshop and address", "/workshop"), ("Planes", "/planes")]), fill(5)],
        ),
        Article::new(
            "http://tarn-and-sons.test/workshop",
            "Workshop and address",
            Style::Bare,
            vec![fill(5), p("You find us at 18 Forge Hill, Skelby, behind the chapel."), fill(6)],
        ),
        Article::new("http://tarn-and-sons.test/planes", "Planes", Style::Bare, vec![fill(9)]),
    ]
}

fn river() -> Vec<Article> {
    let body = |text: &str, next: &[(&str, &str)]| vec![fill(14), p(text), links(next), fill(14)];
    vec![
        Article::new(
            "http://atlas.test/rivers/merrow",
            "River Merrow",
            Style::Semantic,
            body(
                "The Merrow rises near the village of Stane and ends in a lake after 143 kilometres.",
                &[
                    ("Lake Ondal", "/lakes/ondal"),
                    ("Stane", "/villages/stane"),
                    ("Rivers of the north", "/rivers"),
                ],
            ),
        ),
        Article::new(
            "http://atlas.test/lakes/ondal",
            "Lake Ondal",
            Style::Semantic,
            body(
                "The largest town on its shore is Port Ondal. The lake is 88 metres deep.",
                &[("Port Ondal", "/towns/port-ondal"), ("River Merrow", "/rivers/merrow")],
            ),
        ),
        Article::new(
            "http://atlas.test/towns/port-ondal",
            "Port Ondal",
            Style::Semantic,
            body(
                "Port Ondal has 31,800 inhabitants and a shipyard for wooden boats.",
                &[("Lake Ondal", "/lakes/ondal")],
            ),
        ),
        Article::new(
            "http://atlas.test/villages/stane",
            "Stane",
            Style::Semantic,
            body("Stane has 410 inhabitants.", &[("River Merrow", "/rivers/merrow")]),
        ),
    ]
}
