//! Properties that products and offers of schema.org share: IDs, options and images.

use super::draft::{image, name};
use crate::structured::{Entity, Property};
use std::collections::BTreeMap;
use url::Url;
use websvc_types::limits::PRODUCT_IMAGES_MAX;
use websvc_types::product::ItemImage;

/// Properties that are options of a variant.
const OPTIONS: [&str; 4] = ["color", "size", "material", "pattern"];

/// Properties with global IDs, the most specific one first.
const GTINS: [&str; 6] = ["gtin13", "gtin14", "gtin12", "gtin8", "gtin", "isbn"];

/// Maximum number of options of a variant.
pub(super) const MAX_OPTIONS: usize = 30;

/// Returns the options of a product: usual properties, and those that it names itself.
pub(super) fn options(entity: Entity<'_>) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for option in OPTIONS {
        let labels: Vec<String> = entity.labels(option).take(5).filter_map(name).collect();
        if !labels.is_empty() {
            values.insert(option.to_owned(), labels.join(", "));
        }
    }
    for property in entity.entities("additionalProperty").take(MAX_OPTIONS) {
        let (Some(key), Some(value)) =
            (property.text("name").and_then(name), property.label("value").and_then(name))
        else {
            continue;
        };
        if values.len() < MAX_OPTIONS {
            values.entry(key).or_insert(value);
        }
    }
    values
}

/// Returns the global ID of a product or offer.
pub(super) fn gtin(entity: Entity<'_>) -> Option<String> {
    GTINS.iter().find_map(|property| entity.text(property)).and_then(name)
}

/// Returns the images of a product or offer.
pub(crate) fn images(entity: Entity<'_>, base: &Url) -> Vec<ItemImage> {
    let images = entity.values("image").filter_map(|value| match value {
        Property::Literal(literal) => image(base, literal.as_str().trim(), None),
        Property::Entity(object) => {
            image(base, object.file()?, object.text("caption").or_else(|| object.text("name")))
        }
    });
    images.take(PRODUCT_IMAGES_MAX).collect()
}
