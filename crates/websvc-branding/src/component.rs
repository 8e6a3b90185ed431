//! Buttons and fields: which elements are buttons, which one is the call to action, and how they look.

use websvc_types::branding::{BorderRadiusCorners, BrandComponent};

use crate::canvas::Canvas;
use crate::color::Color;
use crate::report::{Item, ItemKind, Region, StyleReport, px};

/// The maximum number of buttons that are ranked.
pub(crate) const MAX_BUTTONS: usize = 60;

/// Beginnings of the labels of calls to action.
const CALLS: [&str; 46] = [
    "sign up",
    "signup",
    "get started",
    "start",
    "try",
    "buy",
    "shop",
    "order",
    "book",
    "reserve",
    "subscribe",
    "join",
    "download",
    "install",
    "get ",
    "request",
    "contact",
    "talk to",
    "schedule",
    "create",
    "register",
    "donate",
    "apply",
    "add to cart",
    "checkout",
    "open account",
    "claim",
    "explore",
    "discover",
    "jetzt",
    "kostenlos",
    "kaufen",
    "bestellen",
    "anmelden",
    "registrieren",
    "in den warenkorb",
    "commencer",
    "essayer",
    "acheter",
    "s'inscrire",
    "commander",
    "comprar",
    "empezar",
    "empieza",
    "prueba",
    "inizia",
];

/// Words in classes and labels of controls that are not calls to action.
const CONTROLS: [&str; 22] = [
    "close",
    "toggle",
    "toggler",
    "hamburger",
    "menu",
    "carousel",
    "slider",
    "slick",
    "swiper",
    "dot",
    "prev",
    "next",
    "search",
    "dropdown",
    "accordion",
    "tab",
    "cookie",
    "theme",
    "language",
    "share",
    "badge",
    "pagination",
];

/// A button with its rank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankedButton<'a> {
    pub(crate) item: &'a Item,
    pub(crate) score: f64,
}

/// Returns the buttons of a page, and links that look like one, the best call to action first.
pub(crate) fn buttons<'a>(report: &'a StyleReport, canvas: Canvas) -> Vec<RankedButton<'a>> {
    let buttons = report.of_kind(ItemKind::Button);
    let links = report.of_kind(ItemKind::Link).filter(|item| looks_like_button(item));
    let mut ranked: Vec<RankedButton<'a>> = buttons
        .chain(links)
        .filter(|item| item.area.width >= 16.0 && item.area.height >= 16.0)
        .map(|item| RankedButton { item, score: score(item, report, canvas) })
        .collect();
    // Stable: of equal ones the first of the page.
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    ranked.truncate(MAX_BUTTONS);
    ranked
}

fn looks_like_button(item: &Item) -> bool {
    let is_framed = item.has_background || item.border.is_some();
    let has_padding = item.distance(1) >= 6.0 && item.distance(3) >= 6.0;
    let area = item.area;
    let is_named = item.has_word(&["btn", "button", "cta"]);
    let is_sized = (20.0..=100.0).contains(&area.height) && (32.0..=480.0).contains(&area.width);
    is_framed
        && is_sized
        && (has_padding || is_named)
        && !item.text.is_empty()
        && item.text.chars().count() <= 60
}

fn score(item: &Item, report: &StyleReport, canvas: Canvas) -> f64 {
    let label = item.text.trim().to_lowercase();
    let background = item.background(canvas.background).filter(|_| item.has_background);
    let mut score = 0.0;
    if CALLS.iter().any(|call| label.starts_with(call)) {
        score += 3.0;
    }
    if let Some(color) = background {
        let around = item.surroundings(canvas.background).unwrap_or(canvas.background);
        let stands_out = color.distance(around) >= 0.1;
        score += match (color.is_chromatic(), stands_out) {
            (true, true) => 4.0,
            (false, true) => 2.5,
            (true, false) => 1.0,
            (false, false) => 0.0,
        };
    }
    if item.has_word(&["primary", "cta", "filled", "solid", "contained"])
        || item.names.contains("containedPrimary")
    {
        score += 2.5;
    }
    if item.has_word(&["secondary", "outline", "outlined", "ghost", "link", "tertiary", "text"]) {
        score -= 1.5;
    }
    score += match item.region {
        Region::Main | Region::None => 1.5,
        Region::Header | Region::Nav => 0.5,
        Region::Footer => -1.0,
        Region::Overlay => -20.0,
    };
    if item.area.y < report.height {
        score += 1.5;
    }
    if (2_500.0..=40_000.0).contains(&item.area.size()) {
        score += 1.0;
    }
    if CONTROLS.iter().any(|control| label == *control) || item.has_word(&CONTROLS) {
        score -= 4.0;
    }
    if label.is_empty() {
        score -= 4.0;
    }
    if label.chars().count() > 40 {
        score -= 2.0;
    }
    if item.is_disabled {
        score -= 3.0;
    }
    score
}

/// Returns the indexes of the primary button, and of the next one with another background.
pub(crate) fn choose(buttons: &[RankedButton<'_>], canvas: Canvas) -> (Option<usize>, Option<usize>) {
    let is_usable = |button: &RankedButton<'_>| button.score > 0.0 && !button.item.text.is_empty();
    let usable: Vec<usize> = (0..buttons.len()).filter(|index| is_usable(&buttons[*index])).collect();
    let framed = |index: &usize| buttons[*index].item.has_background || buttons[*index].item.border.is_some();
    let Some(primary) = usable.iter().copied().find(framed) else { return (None, None) };
    let paint = |index: usize| {
        let item = buttons[index].item;
        (item.has_background, item.background(canvas.background))
    };
    let first = paint(primary);
    let differs = |index: usize| {
        let (has_background, color) = paint(index);
        match (first.1, color) {
            (Some(one), Some(other)) => one.distance(other) >= 0.03,
            (None, None) => has_background != first.0,
            (Some(_), None) | (None, Some(_)) => true,
        }
    };
    let secondary =
        usable.iter().copied().find(|index| *index != primary && framed(index) && differs(*index));
    (Some(primary), secondary)
}

/// Returns the best visible field for text.
pub(crate) fn input(report: &StyleReport) -> Option<&Item> {
    let rank = |item: &Item| {
        let framed = item.has_background || item.border.is_some();
        let region = match item.region {
            Region::Main | Region::None => 2,
            Region::Footer | Region::Header | Region::Nav => 1,
            Region::Overlay => 0,
        };
        (framed, item.tag == "input", region)
    };
    let inputs =
        report.of_kind(ItemKind::Input).filter(|item| item.area.width >= 40.0 && item.area.height >= 12.0);
    inputs.reduce(|best, next| if rank(next) > rank(best) { next } else { best })
}

/// Describes the style of an element.
pub(crate) fn component(item: &Item, canvas: Color) -> BrandComponent {
    let background = item.background(canvas).unwrap_or(canvas);
    let text = item.text_color(canvas).unwrap_or(background);
    // A radius of more than half of a side looks as half of it, but says that the ends are round.
    let [top_left, top_right, bottom_right, bottom_left] = item.radii();
    let largest = top_left.max(top_right).max(bottom_right).max(bottom_left);
    BrandComponent {
        background: background.hex(),
        text_color: text.hex(),
        border_color: item.border_color(canvas).map(Color::hex),
        border_radius: px(largest),
        border_radius_corners: BorderRadiusCorners {
            top_left: px(top_left),
            top_right: px(top_right),
            bottom_right: px(bottom_right),
            bottom_left: px(bottom_left),
        },
        shadow: item.shadow.clone(),
    }
}
