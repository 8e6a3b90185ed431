//! Pages whose content a script writes: from data in the page, from another URL, after a while, and by links of scripts.

use super::article::{Article, Style, fill, h, html, links, p, table};

/// Data that scripts fetch.
pub(super) const DATA: &[(&str, &str)] = &[
    (
        "http://weather.test/api/now.json",
        r#"{"station": "Cape Hollin", "wind_knots": 31, "pressure_hpa": 987.4, "sky": "overcast"}"#,
    ),
    (
        "http://bakery.test/api/breads.json",
        r#"[{"name": "Rye loaf", "price": 4.2}, {"name": "Spelt roll", "price": 0.95}, {"name": "Walnut bread", "price": 5.6}]"#,
    ),
];

pub(super) fn articles() -> Vec<Article> {
    vec![
        Article::new(
            "http://observatory.test/",
            "Fell Observatory",
            Style::Shell,
            vec![fill(6), p("The main telescope has a mirror of 2.4 metres."), fill(6)],
        ),
        Article::new(
            "http://weather.test/",
            "Weather now",
            Style::Bare,
            vec![html(
                "<div id=root>Loading</div><script>fetch('/api/now.json').then(r => r.json()).then(d => { \
                 document.getElementById('root').innerHTML = '<main><h2>' + d.station + '</h2><p>The wind blows at ' + \
                 d.wind_knots + ' knots under an ' + d.sky + ' sky.</p><p>The air pressure is ' + d.pressure_hpa + \
                 ' hPa.</p></main>' })</script>",
            )],
        ),
        Article::new(
            "http://bakery.test/",
            "Breads of today",
            Style::Bare,
            vec![html(
                "<div id=app></div><script>(async () => { const breads = await (await fetch('/api/breads.json')).json(); \
                 const rows = breads.map(b => `<tr><td>${b.name}</td><td>${b.price.toFixed(2)} EUR</td></tr>`).join(''); \
                 document.getElementById('app').innerHTML = `<main><table><tr><th>Bread</th><th>Price</th></tr>${rows}\
                 </table></main>`; })()</script>",
            )],
        ),
        Article::new(
            "http://theatre.test/",
            "Lantern Theatre",
            Style::Shell,
            vec![fill(3), links(&[("Tickets and seats", "/seats"), ("The house", "/house")]), fill(3)],
        ),
        Article::new(
            "http://theatre.test/seats",
            "Tickets and seats",
            Style::Shell,
            vec![
                fill(4),
                h("Seats"),
                table(&["Area|Seats|Price", "Stalls|214|32 EUR", "Circle|96|24 EUR", "Gallery|58|12 EUR"]),
                fill(4),
            ],
        ),
        Article::new(
            "http://tram.test/line-9",
            "Line 9",
            Style::Bare,
            vec![html(
                "<div id=app></div><script>setTimeout(() => { document.getElementById('app').innerHTML = '<main><p>Line 9 \
                 runs from Quay to Hospital every ' + [12][0] + ' minutes and has ' + [19][0] + ' stops.</p></main>' }, \
                 50)</script>",
            )],
        ),
        Article::new(
            "http://aquarium.test/",
            "Harbour Aquarium",
            Style::Shell,
            vec![
                fill(8),
                p("Feeding of the rays takes place at 11:20 and at 15:50."),
                p("The largest tank holds 640 cubic metres of sea water."),
                fill(8),
            ],
        ),
    ]
}
