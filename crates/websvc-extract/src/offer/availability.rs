//! Availabilities: the terms of schema.org and Open Graph, and usual words.

use crate::text::{collapsed, shorten};

/// Maximum number of characters of the text of an availability.
const MAX_CHARS: usize = 80;

/// Words of an article that cannot be ordered. They are compared first, because they contain words of the other list.
const OUT_OF_STOCK: [&str; 24] = [
    "outofstock",
    "soldout",
    "discontinued",
    "backorder",
    "oos",
    "unavailable",
    "notavailable",
    "notinstock",
    "nichtverfügbar",
    "nichtlieferbar",
    "nichtauflager",
    "ausverkauft",
    "vergriffen",
    "épuisé",
    "rupturedestock",
    "indisponible",
    "nodisponible",
    "agotado",
    "sinstock",
    "esaurito",
    "nondisponibile",
    "uitverkocht",
    "nietopvoorraad",
    "wyprzedany",
];

/// Words of an article that can be ordered.
const IN_STOCK: [&str; 19] = [
    "instock",
    "onlineonly",
    "limitedavailability",
    "preorder",
    "presale",
    "instoreonly",
    "madetoorder",
    "available",
    "auflager",
    "lieferbar",
    "verfügbar",
    "vorrätig",
    "vorbestell",
    "enstock",
    "disponible",
    "disponibile",
    "opvoorraad",
    "dostępny",
    "leftinstock",
];

/// The availability of an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StockStatus {
    /// It can be ordered.
    InStock,
    /// It cannot be ordered now.
    OutOfStock,
}

impl StockStatus {
    /// Returns the status that a term or a short text names, `None` if it is unknown.
    pub(crate) fn from_text(text: &str) -> Option<StockStatus> {
        let letters: String =
            status_text(text)?.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        if OUT_OF_STOCK.iter().any(|word| letters.contains(word)) {
            return Some(StockStatus::OutOfStock);
        }
        IN_STOCK.iter().any(|word| letters.contains(word)).then_some(StockStatus::InStock)
    }

    /// Returns the status of a flag such as `available` or of a text.
    pub(crate) fn of_flag(is_available: bool) -> StockStatus {
        if is_available { StockStatus::InStock } else { StockStatus::OutOfStock }
    }
}

/// Returns an availability as the page states it, without the vocabulary: `InStock` of `https://schema.org/InStock`.
pub(crate) fn status_text(value: &str) -> Option<String> {
    let value = value.trim();
    let name = match value.contains("schema.org") || value.starts_with("schema:") {
        true => value.trim_end_matches('/').rsplit(['/', '#', ':']).next().unwrap_or(value),
        false => value,
    };
    let mut text = collapsed(name);
    shorten(&mut text, MAX_CHARS);
    (!text.is_empty() && !text.contains("://")).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_and_words_name_the_status() {
        use StockStatus::{InStock, OutOfStock};
        for (text, expected) in [
            ("https://schema.org/InStock", Some(InStock)),
            ("http://schema.org/OutOfStock/", Some(OutOfStock)),
            ("schema:PreOrder", Some(InStock)),
            ("BackOrder", Some(OutOfStock)),
            ("LimitedAvailability", Some(InStock)),
            ("Only 3 left in stock", Some(InStock)),
            ("Nicht auf Lager", Some(OutOfStock)),
            ("Auf Lager", Some(InStock)),
            ("oos", Some(OutOfStock)),
            ("Ships from Ohio", None),
            ("", None),
        ] {
            assert_eq!(StockStatus::from_text(text), expected, "{text}");
        }
    }
}
