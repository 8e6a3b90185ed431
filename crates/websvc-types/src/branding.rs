//! Design of a site, for the format `branding` (operations.md, section 7.1).

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

/// Design of a site as its page shows it. A part that is unknown is absent.
///
/// # Examples
///
/// ```
/// use websvc_types::branding::{ColorScheme, PageBranding};
///
/// let branding: PageBranding = serde_json::from_str(r##"{
///     "colorScheme": "light",
///     "colors": { "primary": "#0D6EFD", "background": "#FFFFFF" },
///     "fonts": [{ "family": "Inter", "role": "body", "count": 12 }]
/// }"##)?;
/// assert_eq!(branding.color_scheme, Some(ColorScheme::Light));
/// assert_eq!(branding.colors.primary.as_deref(), Some("#0D6EFD"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct PageBranding {
    /// Color scheme of the page.
    pub color_scheme: Option<ColorScheme>,
    /// Name of the brand: `og:site_name`, else a part of the title, the first heading or the host.
    pub brand_name: Option<String>,
    /// Logo, as in `images.logo`: an absolute URL or a data URI.
    pub logo: Option<String>,
    /// Colors by role.
    #[serde(skip_serializing_if = "is_default")]
    pub colors: BrandColors,
    /// Font families, the most used one first; at most 10.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fonts: Vec<BrandFont>,
    /// Fonts, sizes and weights of texts.
    #[serde(skip_serializing_if = "is_default")]
    pub typography: BrandTypography,
    /// Distances.
    #[serde(skip_serializing_if = "is_default")]
    pub spacing: BrandSpacing,
    /// Styles of buttons and fields.
    #[serde(skip_serializing_if = "is_default")]
    pub components: BrandComponents,
    /// Images of the brand.
    #[serde(skip_serializing_if = "is_default")]
    pub images: BrandImages,
    /// Character of the brand, as a language model describes it.
    pub personality: Option<BrandPersonality>,
    /// Framework and component library of the page, by the traces that they leave in it.
    pub design_system: Option<BrandDesignSystem>,
    /// Confidence of the language model in its choices, 0 to 1.
    pub confidence: Option<BrandConfidence>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Color scheme of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ColorScheme {
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

/// Colors of a page by role, as `#RRGGBB` in upper case. Translucent colors are blended onto their background.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct BrandColors {
    /// Main color of the brand.
    pub primary: Option<String>,
    /// Third color of the brand, if the page has one.
    pub secondary: Option<String>,
    /// Second color of the brand, else the main color.
    pub accent: Option<String>,
    /// Background of the page.
    pub background: Option<String>,
    /// Color of running text.
    pub text_primary: Option<String>,
    /// Color of text of less importance.
    pub text_secondary: Option<String>,
    /// Color of links in running text.
    pub link: Option<String>,
    /// Color of messages about success.
    pub success: Option<String>,
    /// Color of warnings.
    pub warning: Option<String>,
    /// Color of errors.
    pub error: Option<String>,
}

/// Font family of a page.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct BrandFont {
    /// Name of the family, without the hashes that build tools add.
    pub family: String,
    /// Use of the family.
    pub role: Option<FontRole>,
    /// Number of examined elements with this family.
    pub count: Option<u32>,
}

/// Use of a font family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FontRole {
    /// Headings.
    Heading,
    /// Running text.
    Body,
    /// Code.
    Monospace,
    /// Large texts other than headings.
    Display,
    /// Other texts.
    Unknown,
}

/// Fonts, sizes and weights of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BrandTypography {
    /// Font families by use: `primary`, `heading` and `code`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_families: BTreeMap<String, String>,
    /// Font families with their fallbacks by use: `body`, `heading` and `paragraph`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_stacks: BTreeMap<String, Vec<String>>,
    /// Font sizes by element: `h1`, `h2`, `h3` and `body`, such as `16px`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_sizes: BTreeMap<String, String>,
    /// Line heights by element, such as `24px`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub line_heights: BTreeMap<String, String>,
    /// Font weights by element, 1 to 1000.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_weights: BTreeMap<String, u16>,
}

/// Distances of a design.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BrandSpacing {
    /// Unit of which most distances are multiples, in CSS pixels, 1 to 128.
    #[cfg_attr(feature = "schemars", schemars(with = "u16", range(min = 1, max = 128)))]
    pub base_unit: Option<u16>,
    /// Median radius of corners, such as `8px`.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub border_radius: Option<String>,
}

/// Styles of buttons and fields.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct BrandComponents {
    /// Button of the main call to action.
    pub button_primary: Option<BrandComponent>,
    /// Next button with another background.
    pub button_secondary: Option<BrandComponent>,
    /// Text field.
    pub input: Option<BrandComponent>,
}

/// Style of a button or field.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct BrandComponent {
    /// Background color, `#RRGGBB`.
    pub background: String,
    /// Text color, `#RRGGBB`.
    pub text_color: String,
    /// Border color, `#RRGGBB`; absent without a border.
    pub border_color: Option<String>,
    /// Radius of the corners, such as `8px`; the largest one if they differ.
    pub border_radius: String,
    /// Radius of each corner.
    pub border_radius_corners: BorderRadiusCorners,
    /// Shadow as of the CSS property `box-shadow`.
    pub shadow: Option<String>,
}

/// Radius of each corner, such as `8px`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BorderRadiusCorners {
    /// Top left corner.
    pub top_left: String,
    /// Top right corner.
    pub top_right: String,
    /// Bottom right corner.
    pub bottom_right: String,
    /// Bottom left corner.
    pub bottom_left: String,
}

/// Images of a brand.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct BrandImages {
    /// Logo: an absolute URL, or a data URI for an SVG of the page.
    pub logo: Option<String>,
    /// Target of the link around the logo.
    pub logo_href: Option<String>,
    /// Alternative text of the logo.
    pub logo_alt: Option<String>,
    /// Icon of the page, an absolute URL.
    pub favicon: Option<String>,
    /// Image for links to the page in social networks (`og:image`, else `twitter:image`), an absolute URL.
    pub og_image: Option<String>,
}

/// Character of a brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BrandPersonality {
    /// Tone of the page.
    pub tone: BrandTone,
    /// Energy of the page.
    pub energy: BrandEnergy,
    /// Audience that the page addresses, in a few words.
    pub target_audience: String,
}

/// Tone of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words are the description")]
pub enum BrandTone {
    Professional,
    Playful,
    Modern,
    Traditional,
    Minimalist,
    Bold,
}

/// Energy of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words are the description")]
pub enum BrandEnergy {
    Low,
    Medium,
    High,
}

/// Framework and component library of a page.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BrandDesignSystem {
    /// CSS framework.
    pub framework: CssFramework,
    /// Component library, such as `radix`.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub component_library: Option<String>,
}

/// CSS framework.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CssFramework {
    /// Tailwind CSS.
    Tailwind,
    /// Bootstrap.
    Bootstrap,
    /// Material Design, in any implementation.
    Material,
    /// Chakra UI.
    Chakra,
    /// Another one, or styles of the site's own.
    Custom,
    /// Not known.
    Unknown,
}

/// Confidence of a language model in its choices, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct BrandConfidence {
    /// Confidence in the buttons.
    pub buttons: f64,
    /// Confidence in the colors.
    pub colors: f64,
    /// Confidence in the whole.
    pub overall: f64,
}
