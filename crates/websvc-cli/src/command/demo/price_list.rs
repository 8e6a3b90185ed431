//! The page whose prices change once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;

/// Path of the page.
pub(super) const PATH: &str = "/prices";

/// The teas before the change.
const OLD_TEAS: [&str; 3] = ["Sencha: 12.00 euros", "Assam: 9.50 euros", "Earl Grey: 8.00 euros"];

/// The teas after the change: one is cheaper, and one is new.
const NEW_TEAS: [&str; 4] =
    ["Sencha: 10.50 euros", "Assam: 9.50 euros", "Earl Grey: 8.00 euros", "Genmaicha: 11.00 euros"];

/// The prices of the page. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Prices {
    is_changed: Arc<AtomicBool>,
}

impl Prices {
    /// Changes the prices.
    pub(super) fn change(&self) {
        self.is_changed.store(true, Ordering::Relaxed);
    }

    /// Returns the page, or the same content with the status 404 for another path.
    pub(super) fn respond(&self, path: &str) -> (StatusCode, String) {
        (if path == PATH { StatusCode::OK } else { StatusCode::NOT_FOUND }, self.html())
    }

    fn html(&self) -> String {
        let teas = if self.is_changed.load(Ordering::Relaxed) { NEW_TEAS.as_slice() } else { &OLD_TEAS };
        let teas: String = teas.iter().map(|tea| format!("<li>{tea}</li>")).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Teas and prices</title></head><body><main>\
             <h1>Teas and prices</h1><p>Prices for 100 grams, with taxes.</p><ul>{teas}</ul>\
             <p>We deliver within two days.</p></main></body></html>"
        )
    }
}
