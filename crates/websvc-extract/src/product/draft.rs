//! A product as one source describes it.

use super::identity::PageIdentity;
use crate::limits::MAX_LABEL_BYTES;
use crate::offer::StockStatus;
use crate::structured::plain_text;
use crate::text::{collapsed, shorten, start_of};
use url::Url;
use websvc_types::limits::{PRODUCT_DESCRIPTION_MAX_CHARS, PRODUCT_IMAGES_MAX, PRODUCT_VARIANTS_MAX};
use websvc_types::product::{Availability, ItemImage, PageProduct, Price, ProductSale, ProductVariant};

/// Maximum number of characters of a name, an ID or the value of an option.
const MAX_NAME_CHARS: usize = 500;

/// A product with what identifies it.
#[derive(Debug, Clone, Default)]
pub(super) struct ProductDraft {
    pub(super) title: String,
    pub(super) url: Option<Url>,
    pub(super) brand: Option<String>,
    pub(super) category: Option<String>,
    pub(super) description: Option<String>,
    pub(super) variants: Vec<VariantDraft>,
    /// SKUs and GTINs of the product and its variants.
    pub(super) codes: Vec<String>,
    /// The product of which this one is a variant, by ID or name.
    pub(super) group: Option<String>,
    /// True if the source names it as the main entity of the page.
    pub(super) is_main: bool,
}

/// A variant whose availability may be unknown.
#[derive(Debug, Clone, Default)]
pub(super) struct VariantDraft {
    pub(super) variant: ProductVariant,
    pub(super) status: Option<StockStatus>,
}

impl VariantDraft {
    /// Sets the price, and the original price if it is higher and in the same currency.
    pub(super) fn set_price(&mut self, price: Option<Price>, original: Option<Price>) {
        // A price of zero is the placeholder of a price on request.
        self.variant.price = price.filter(|price| price.amount > 0.0);
        self.variant.sale = self.variant.price.as_ref().and_then(|price| {
            let mut original = original?;
            if original.currency.is_none() {
                original.currency.clone_from(&price.currency);
            }
            let is_sale = original.amount > price.amount
                && (price.currency.is_none() || original.currency == price.currency);
            is_sale.then_some(ProductSale { original_price: original })
        });
    }
}

impl ProductDraft {
    /// Returns the product with defaults for what no source says.
    pub(super) fn finish(self, page: &PageIdentity) -> PageProduct {
        let ProductDraft {
            title,
            url,
            brand,
            category,
            description,
            variants,
            codes: _,
            group: _,
            is_main: _,
        } = self;
        let mut variants: Vec<ProductVariant> = variants
            .into_iter()
            .take(PRODUCT_VARIANTS_MAX)
            .map(|draft| finish_variant(draft, &title, page))
            .collect();
        if variants.is_empty() {
            variants.push(finish_variant(VariantDraft::default(), &title, page));
        }
        PageProduct {
            url: url.map_or_else(|| page.own_url().to_string(), String::from),
            brand: brand.and_then(|brand| name(&brand)),
            category: category.and_then(|category| name(&category)),
            description: description.and_then(|text| {
                let mut text = plain_text(&text);
                shorten(&mut text, PRODUCT_DESCRIPTION_MAX_CHARS);
                (!text.is_empty()).then_some(text)
            }),
            title,
            variants,
        }
    }
}

fn finish_variant(draft: VariantDraft, product: &str, page: &PageIdentity) -> ProductVariant {
    let VariantDraft { mut variant, status } = draft;
    let is_in_stock = match status {
        Some(status) => status == StockStatus::InStock,
        None => variant.price.is_some() || page.can_buy(),
    };
    variant.availability = Availability { in_stock: is_in_stock, text: variant.availability.text };
    variant.title = variant.title.filter(|title| title != product);
    let mut urls = Vec::new();
    variant.images.retain(|image| {
        let is_new = !urls.contains(&image.url);
        urls.push(image.url.clone());
        is_new
    });
    variant.images.truncate(PRODUCT_IMAGES_MAX);
    variant
}

/// Returns a name without markup and within the limit, `None` if it is empty. Only the start of a long text is read.
pub(crate) fn name(text: &str) -> Option<String> {
    let text = start_of(text, MAX_LABEL_BYTES);
    let mut text = if text.contains('<') { plain_text(text) } else { collapsed(text) };
    shorten(&mut text, MAX_NAME_CHARS);
    (!text.is_empty()).then_some(text)
}

/// Returns an image with its absolute http(s) URL.
pub(crate) fn image(base: &Url, source: &str, alt: Option<&str>) -> Option<ItemImage> {
    let url = crate::links::resolve_image(base, source).filter(|url| url.starts_with("http"))?;
    Some(ItemImage { url, alt: alt.and_then(name) })
}
