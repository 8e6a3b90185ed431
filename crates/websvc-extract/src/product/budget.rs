//! Limit of the work and memory that the products of one source may take.

use super::draft::VariantDraft;
use websvc_types::product::ItemImage;

/// Maximum number of variants of all products of a source, and of the bytes of their texts.
const MAX_VARIANTS: usize = 5_000;
const MAX_BYTES: usize = 8 << 20;

/// Maximum number of properties that are looked through to compare the offers of a source. Products may share offers,
/// which are compared for each of them.
const MAX_PROPERTIES: usize = 2_000_000;

/// Amounts that the products of one source may still take.
pub(super) struct DraftBudget {
    variants: usize,
    bytes: usize,
    properties: usize,
}

impl DraftBudget {
    /// Returns the budget of a source.
    pub(super) fn new() -> DraftBudget {
        DraftBudget { variants: MAX_VARIANTS, bytes: MAX_BYTES, properties: MAX_PROPERTIES }
    }

    /// Returns whether an offer may be compared with others, which costs this number of properties.
    pub(super) fn compare(&mut self, properties: usize) -> bool {
        self.properties = self.properties.saturating_sub(properties.max(1));
        self.properties > 0
    }

    /// Returns whether nothing more fits.
    pub(super) fn is_spent(&self) -> bool {
        self.variants == 0 || self.bytes == 0
    }

    /// Returns a variant that is charged to the budget, without its options and images if it does not fit.
    pub(super) fn charged(&mut self, mut draft: VariantDraft) -> VariantDraft {
        self.variants = self.variants.saturating_sub(1);
        let variant = &draft.variant;
        let texts = [&variant.id, &variant.sku, &variant.title].into_iter().flatten().map(String::len);
        let options = variant.values.iter().map(|(key, value)| 64 + key.len() + value.len());
        let bytes = 512 + texts.sum::<usize>() + options.sum::<usize>() + image_bytes(&variant.images);
        if !self.take(bytes) {
            draft.variant.values.clear();
            draft.variant.images.clear();
        }
        draft
    }

    /// Gives a variant without images a copy of those of its product, if they fit.
    pub(super) fn add_images(&mut self, draft: &mut VariantDraft, images: &[ItemImage]) {
        if draft.variant.images.is_empty() && !images.is_empty() && self.take(image_bytes(images)) {
            draft.variant.images = images.to_vec();
        }
    }

    /// Charges bytes. Once some do not fit, the budget is spent.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(0);
        left.is_some()
    }
}

fn image_bytes(images: &[ItemImage]) -> usize {
    images.iter().map(|image| 48 + image.url.len() + image.alt.as_ref().map_or(0, String::len)).sum()
}
