//! The price list.

use serde::Deserialize;

/// Prices in credits (specification, section 8, and the operator's contract).
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
    /// Per page through an enhanced proxy, instead of the price of a scraped page.
    pub scrape_enhanced: u64,
    /// Per page of a parsed PDF. The first page has the price of a scraped page if that is higher.
    pub pdf_page: u64,
    /// Per PDF that is returned unparsed, whatever its length.
    pub pdf_base64: u64,
    /// Per page that lockdown served from the cache.
    pub lockdown_hit: u64,
    /// Per page that lockdown did not find in the cache.
    pub lockdown_miss: u64,
    /// Per page or file that was requested alone under zero data retention, in addition to its price.
    pub zero_data_retention: u64,
    /// Per page from which personal data is removed, in addition to the price of the page.
    pub redact_pii: u64,
    /// Per page from which a language model extracted data, in addition to the price of the page.
    pub json: u64,
    /// Per page about which a language model answered a question, in addition to the price of the page.
    pub question: u64,
    /// Per page of which a language model chose passages, in addition to the price of the page.
    pub highlights: u64,
    /// Per page whose sound was downloaded, in addition to the price of the page.
    pub audio: u64,
    /// Per page whose video was downloaded, in addition to the price of the page.
    pub video: u64,
    /// Per changed page that a language model judged for a monitor, in addition to the price of the page, and per judged
    /// search result, whose scrape is included.
    pub judge: u64,
    /// Per map of a site.
    pub map: u64,
    /// Per unique URL of a request that a threat scanner checked.
    pub threat_scan: u64,
    /// Per minute of a browser session without prompts, counted in seconds; at least one minute.
    pub session: u64,
    /// Per minute of a browser session in which a prompt was used.
    pub session_prompt: u64,
}

impl Pricing {
    /// The names of the prices in the configuration.
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
        "zero_data_retention",
        "redact_pii",
        "json",
        "question",
        "highlights",
        "audio",
        "video",
        "judge",
        "map",
        "threat_scan",
        "session",
        "session_prompt",
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
            zero_data_retention: 1,
            redact_pii: 4,
            json: 4,
            question: 4,
            highlights: 4,
            audio: 4,
            video: 4,
            judge: 1,
            map: 1,
            threat_scan: 2,
            session: 2,
            session_prompt: 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_sets_a_price() {
        for key in Pricing::KEYS {
            let json = format!("{{\"{key}\": 9}}");
            assert_ne!(serde_json::from_str::<Pricing>(&json).unwrap(), Pricing::default(), "{key}");
        }
    }
}
