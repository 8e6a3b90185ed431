//! Output formats of a scraped page (specification, section 2.2.1).

mod attributes;
mod audio;
mod branding;
mod change_tracking;
mod highlights;
mod html;
mod images;
mod json;
mod links;
mod markdown;
mod menu;
mod product;
mod question;
mod raw_base64;
mod raw_html;
mod screenshot;
mod shorthand;
mod summary;
mod video;

#[cfg(feature = "schemars")]
use schemars::{JsonSchema, Schema};
use serde::de::{Error, MapAccess};
use serde::{Deserialize, Deserializer, Serialize};

pub use attributes::{AttributeSelector, AttributeValues, Attributes};
pub use audio::Audio;
pub use branding::Branding;
pub use change_tracking::{ChangeMode, ChangeTracking};
pub use highlights::{HighlightPassage, Highlights};
pub use html::Html;
pub use images::Images;
pub use json::Json;
pub use links::Links;
pub use markdown::Markdown;
pub use menu::Menu;
pub use product::Product;
pub use question::Question;
pub use raw_base64::RawBase64;
pub use raw_html::RawHtml;
pub use screenshot::Screenshot;
pub use summary::Summary;
pub use video::Video;

#[cfg(feature = "schemars")]
use crate::bare_name::with_names;
use crate::bare_name::{self, BareName};
use crate::compat;
use crate::tagged::{self, Tagged};

/// Output format of a page: an object with `type` and the fields of that type, or the bare name if no field is
/// required.
///
/// # Examples
///
/// ```
/// use websvc_types::{Format, format};
///
/// let json = r#"["markdown", {"type": "question", "question": "What is it?"}]"#;
/// let formats: Vec<Format> = serde_json::from_str(json)?;
/// let question = format::Question { question: "What is it?".to_owned() };
/// assert_eq!(formats, [Format::Markdown(format::Markdown {}), Format::Question(question)]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = add_names))]
pub enum Format {
    /// Content as markdown.
    Markdown(Markdown),
    /// Summary of the content.
    Summary(Summary),
    /// Content as cleaned HTML.
    Html(Html),
    /// Page as received, decoded to UTF-8.
    RawHtml(RawHtml),
    /// Absolute URLs of the links in the content, each once.
    Links(Links),
    /// Absolute URLs of the images of the page, each once.
    Images(Images),
    /// Screenshot of the page.
    Screenshot(Screenshot),
    /// Data extracted by a language model.
    Json(Json),
    /// Changes since the last scrape.
    ChangeTracking(ChangeTracking),
    /// Colors, fonts and logos of the site.
    Branding(Branding),
    /// Product that the page offers.
    Product(Product),
    /// Menu of the restaurant or shop that the page shows.
    Menu(Menu),
    /// MP3 audio extracted from a supported video URL.
    Audio(Audio),
    /// Best video of a supported video URL.
    Video(Video),
    /// Answer to a question about the page.
    Question(Question),
    /// Passages of the page that match a query.
    Highlights(Highlights),
    /// Values of attributes of the elements that CSS selectors match.
    Attributes(Attributes),
    /// Bytes of the page or file as received, in base64.
    RawBase64(RawBase64),
}

/// Formats that can be written as their bare name: all without required fields.
const BARE_NAMES: &[&str] = &[
    "markdown",
    "summary",
    "html",
    "rawHtml",
    "links",
    "images",
    "screenshot",
    "json",
    "changeTracking",
    "branding",
    "product",
    "menu",
    "audio",
    "video",
    "rawBase64",
];

#[cfg(feature = "schemars")]
fn add_names(schema: &mut Schema) {
    with_names(schema, BARE_NAMES, &[]);
    compat::add_formats(schema);
}

impl Format {
    /// Names of the formats of the specification, in its order. Official clients also send `attributes` and `rawBase64`.
    pub const NAMES: &'static [&'static str] = &[
        "markdown",
        "summary",
        "html",
        "rawHtml",
        "links",
        "images",
        "screenshot",
        "json",
        "changeTracking",
        "branding",
        "product",
        "menu",
        "audio",
        "video",
        "question",
        "highlights",
    ];

    /// Returns the value of `type`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Format::Markdown(_) => "markdown",
            Format::Summary(_) => "summary",
            Format::Html(_) => "html",
            Format::RawHtml(_) => "rawHtml",
            Format::Links(_) => "links",
            Format::Images(_) => "images",
            Format::Screenshot(_) => "screenshot",
            Format::Json(_) => "json",
            Format::ChangeTracking(_) => "changeTracking",
            Format::Branding(_) => "branding",
            Format::Product(_) => "product",
            Format::Menu(_) => "menu",
            Format::Audio(_) => "audio",
            Format::Video(_) => "video",
            Format::Question(_) => "question",
            Format::Highlights(_) => "highlights",
            Format::Attributes(_) => "attributes",
            Format::RawBase64(_) => "rawBase64",
        }
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bare_name::deserialize(deserializer)
    }
}

impl<'de> BareName<'de> for Format {
    const EXPECTED: &'static str = "the name of a format, or an object with its type";

    fn from_name<E: Error>(name: &str) -> Result<Self, E> {
        tagged::from_name(name)
    }

    fn from_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        tagged::from_map(map)
    }
}

impl<'de> Tagged<'de> for Format {
    const EXPECTED: &'static str = <Self as BareName>::EXPECTED;

    fn from_tag<D: Deserializer<'de>>(tag: &str, fields: D) -> Result<Self, D::Error> {
        match tag {
            "markdown" => Markdown::deserialize(fields).map(Format::Markdown),
            "summary" => Summary::deserialize(fields).map(Format::Summary),
            "html" => Html::deserialize(fields).map(Format::Html),
            "rawHtml" => RawHtml::deserialize(fields).map(Format::RawHtml),
            "links" => Links::deserialize(fields).map(Format::Links),
            "images" => Images::deserialize(fields).map(Format::Images),
            "screenshot" => Screenshot::deserialize(fields).map(Format::Screenshot),
            "json" => Json::deserialize(fields).map(Format::Json),
            "changeTracking" => ChangeTracking::deserialize(fields).map(Format::ChangeTracking),
            "branding" => Branding::deserialize(fields).map(Format::Branding),
            "product" => Product::deserialize(fields).map(Format::Product),
            "menu" => Menu::deserialize(fields).map(Format::Menu),
            "audio" => Audio::deserialize(fields).map(Format::Audio),
            "video" => Video::deserialize(fields).map(Format::Video),
            "question" => Question::deserialize(fields).map(Format::Question),
            "highlights" => Highlights::deserialize(fields).map(Format::Highlights),
            "attributes" => Attributes::deserialize(fields).map(Format::Attributes),
            "rawBase64" => RawBase64::deserialize(fields).map(Format::RawBase64),
            unknown => Err(D::Error::unknown_variant(unknown, Self::NAMES)),
        }
    }
}
