//! The price list, as data.

use serde::Deserialize;

/// Credits by what was done (specification, section 8, and the operator's contract).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pricing {
    /// Per ten results of an ordinary search, rounded up.
    pub search_per_ten: u64,
    /// Per ten results under zero data retention.
    pub search_zdr_per_ten: u64,
    /// Per ten results under anonymized zero data retention.
    pub search_anon_per_ten: u64,
    /// Per scraped page.
    pub scrape: u64,
    /// Per page that came through an enhanced proxy, instead of the price of a scraped page.
    pub scrape_enhanced: u64,
    /// Per page of a PDF that was read; the first is the scraped page, and has its price when that is higher.
    pub pdf_page: u64,
    /// Per PDF that is given back as it is, however long it is.
    pub pdf_base64: u64,
    /// Per page that lockdown served from the cache.
    pub lockdown_hit: u64,
    /// Per page that lockdown did not find in the cache.
    pub lockdown_miss: u64,
    /// Beside the price of a page, when personal data is removed from it.
    pub redact_pii: u64,
    /// Beside the price of a page, when a language model extracted data from it.
    pub json: u64,
    /// Beside the price of a page, when a language model answered a question about it.
    pub question: u64,
    /// Beside the price of a page, when a language model chose passages of it.
    pub highlights: u64,
    /// Per map of a site.
    pub map: u64,
    /// Per unique URL of a request that threat protection had scanned.
    pub threat_scan: u64,
}

impl Pricing {
    /// The names of the prices, as the configuration spells them.
    pub const KEYS: &'static [&'static str] = &[
        "search_per_ten",
        "search_zdr_per_ten",
        "search_anon_per_ten",
        "scrape",
        "scrape_enhanced",
        "pdf_page",
        "pdf_base64",
        "lockdown_hit",
        "lockdown_miss",
        "redact_pii",
        "json",
        "question",
        "highlights",
        "map",
        "threat_scan",
    ];
}

impl Default for Pricing {
    fn default() -> Self {
        Self {
            search_per_ten: 2,
            search_zdr_per_ten: 10,
            search_anon_per_ten: 2,
            scrape: 1,
            scrape_enhanced: 5,
            pdf_page: 1,
            pdf_base64: 1,
            lockdown_hit: 5,
            lockdown_miss: 1,
            redact_pii: 4,
            json: 4,
            question: 4,
            highlights: 4,
            map: 1,
            threat_scan: 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_a_price() {
        for key in Pricing::KEYS {
            let json = format!("{{\"{key}\": 7}}");
            assert_ne!(serde_json::from_str::<Pricing>(&json).unwrap(), Pricing::default(), "{key}");
        }
    }
}
