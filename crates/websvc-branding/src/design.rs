//! Combines the parts of a design, and collects the close candidates for a language model.

use url::Url;
use websvc_extract::DeclaredBrand;
use websvc_types::branding::{BrandComponents, PageBranding};
use websvc_types::limits::BRANDING_TEXT_MAX_CHARS;

use crate::canvas::Canvas;
use crate::choice::{self, BrandChoices, ButtonChoice, LogoChoice};
use crate::color::Color;
use crate::component::{self, RankedButton};
use crate::logo::{self, RankedLogo};
use crate::palette::{self, Palette};
use crate::report::{ItemKind, StyleReport};
use crate::{fonts, framework, name, typography};

/// The maximum number of texts of the page that a model reads.
const MAX_TEXTS: usize = 12;

/// The design of a page.
#[derive(Debug, Clone, Default)]
pub struct PageDesign {
    /// The design as rules find it.
    pub branding: PageBranding,
    /// The candidates among which a model may choose.
    pub choices: BrandChoices,
}

/// Returns the design of the page with this URL.
#[must_use]
pub fn design(report: &StyleReport, declared: &DeclaredBrand, url: &Url) -> PageDesign {
    let canvas = Canvas::from_report(report);
    let buttons = component::buttons(report, canvas);
    let (primary, secondary) = component::choose(&buttons, canvas);
    let mut palette = Palette::from_report(report, canvas, &buttons);
    palette::support_declared(&mut palette, report, declared.theme_color.as_deref());
    let texts = palette::text_colors(report, canvas.background);
    let brand_colors = palette.brand_colors(canvas, texts.primary);
    let name = name::brand_name(declared, &logo::home_labels(report, url), url);
    let logos = logo::rank(report, name.as_deref(), url);
    let close = logo::close_count(&logos);
    let images = logo::images(logos.first().filter(|_| close > 0).map(|logo| logo.item), declared);
    let style = |index: Option<usize>| {
        index.map(|index| component::component(buttons[index].item, canvas.background))
    };
    let branding = PageBranding {
        color_scheme: Some(canvas.scheme),
        logo: images.logo.clone(),
        colors: palette::colors(
            report,
            canvas,
            &brand_colors,
            texts,
            primary.map(|index| buttons[index].item),
        ),
        fonts: fonts::fonts(report),
        typography: typography::typography(report),
        spacing: typography::spacing(report),
        components: BrandComponents {
            button_primary: style(primary),
            button_secondary: style(secondary),
            input: component::input(report).map(|item| component::component(item, canvas.background)),
        },
        images,
        personality: None,
        design_system: framework::design_system(&report.tokens, declared),
        confidence: None,
        brand_name: name,
    };
    let choices = BrandChoices {
        buttons: button_choices(&buttons, canvas),
        logos: logos.iter().take(close).map(|logo| logo_choice(logo, declared)).collect(),
        colors: brand_colors.into_iter().take(choice::MAX_COLORS).map(Color::hex).collect(),
        texts: page_texts(report, declared),
    };
    PageDesign { branding, choices }
}

fn button_choices(buttons: &[RankedButton<'_>], canvas: Canvas) -> Vec<ButtonChoice> {
    let usable = buttons.iter().filter(|button| button.score > 0.0 && !button.item.text.is_empty());
    let choices = usable.take(choice::MAX_BUTTONS).map(|button| ButtonChoice {
        label: short(&button.item.text),
        names: button.item.names.clone(),
        component: component::component(button.item, canvas.background),
    });
    choices.collect()
}

fn logo_choice(logo: &RankedLogo<'_>, declared: &DeclaredBrand) -> LogoChoice {
    let item = logo.item;
    let address = if item.svg.is_empty() && !item.url.starts_with("data:") {
        short(&item.url)
    } else {
        "inline".to_owned()
    };
    let area = item.area;
    LogoChoice {
        description: format!(
            "{} {address}, text {:?}, classes {:?}, link {:?}, {} x {} at {}, {}",
            item.tag,
            item.alt,
            short(&item.names),
            short(&item.href),
            area.width,
            area.height,
            area.x,
            area.y
        ),
        images: logo::images(Some(item), declared),
    }
}

/// Returns the title, headings and first paragraphs of a page.
fn page_texts(report: &StyleReport, declared: &DeclaredBrand) -> Vec<(&'static str, String)> {
    let title = declared.title.iter().map(|title| ("Title", short(title)));
    let headings = report.items().filter_map(|item| match item.kind {
        ItemKind::H1 | ItemKind::H2 | ItemKind::H3 => Some(("Heading", short(&item.text))),
        ItemKind::Text => Some(("Text", short(&item.text))),
        ItemKind::Root
        | ItemKind::Button
        | ItemKind::Input
        | ItemKind::Link
        | ItemKind::Code
        | ItemKind::Status
        | ItemKind::Box => None,
    });
    title.chain(headings).filter(|(_, text)| !text.is_empty()).take(MAX_TEXTS).collect()
}

fn short(text: &str) -> String {
    text.chars().take(BRANDING_TEXT_MAX_CHARS).collect()
}
