//! Stage 10, charge: the credits of a search (specification, section 8, and the operator's contract).
//!
//! [`max_search_credits`] is the maximum that is held before the search. A document counts as one page there, because
//! its number of pages is unknown before it is read.

use websvc_scrape::{Page, ProxyConfig};
use websvc_types::{Format, Proxy, ProxyUsed, SourceKind};
use websvc_validate::{RetentionMode, ScrapePlan, SearchPlan};

use super::find::SearchHits;
use super::media_charge::{charge_media, max_media_credits};
use super::page_result::{PageResult, PageResults};
use super::produced;
use crate::bill::{Bill, ChargeKind};
use crate::change_tracking::has_json_mode;
use crate::pricing::Pricing;

/// The media type of a PDF.
const PDF: &str = "application/pdf";

/// Charges a search: by started tens of results, by page, by scanned URL. Writes the credits of each page into its
/// metadata.
pub(crate) fn charge(
    pricing: &Pricing,
    plan: &SearchPlan,
    found: &SearchHits,
    pages: &mut PageResults,
) -> Bill {
    let mut bill = Bill::default();
    let tens = u64::try_from(found.total().div_ceil(10)).unwrap_or(u64::MAX);
    let (kind, price) = per_ten(pricing, plan.retention);
    bill.add_line(kind, tens, price);
    if let Some(scrape) = plan.scrape.as_ref() {
        pages.iter_mut().flatten().for_each(|result| charge_page(&mut bill, pricing, scrape, result));
    }
    bill.add_line(ChargeKind::ThreatScan, found.scanned, pricing.threat_scan);
    bill
}

/// Charges a search that failed because none of its pages is cached: the misses of lockdown.
pub(crate) fn charge_misses(pricing: &Pricing, scrape: &ScrapePlan, pages: &PageResults) -> Bill {
    let mut bill = Bill::default();
    if scrape.lockdown {
        let misses = pages.iter().flatten().filter(|result| matches!(result, PageResult::Failed(_)));
        bill.add_line(ChargeKind::LockdownMiss, misses.count() as u64, pricing.lockdown_miss);
    }
    bill
}

/// Returns the maximum credits of a search with these proxies. Further pages of documents and redirects are not
/// included.
pub(crate) fn max_search_credits(pricing: &Pricing, proxies: &ProxyConfig, plan: &SearchPlan) -> u64 {
    let limit = plan.limit as u64;
    let results = limit * plan.sources.len() as u64;
    let with_pages = plan.sources.iter().filter(|source| source.kind != SourceKind::Images).count() as u64;
    let (_, price) = per_ten(pricing, plan.retention);
    let mut credits = results.div_ceil(10).saturating_mul(price);
    if let Some(scrape) = plan.scrape.as_ref() {
        let page = max_content_credits(pricing, proxies, scrape);
        credits = credits.saturating_add((limit * with_pages).saturating_mul(page));
    }
    credits.saturating_add(max_scans(plan, results, limit * with_pages).saturating_mul(pricing.threat_scan))
}

/// Returns the maximum number of URLs that are scanned, without redirects. An image result has two: its page and the
/// image. The page of another result is scanned together with the result.
fn max_scans(plan: &SearchPlan, results: u64, pages: u64) -> u64 {
    if plan.protection.is_some() {
        return results + (results - pages);
    }
    if plan.scrape.as_ref().is_some_and(|scrape| scrape.protection.is_some()) { pages } else { 0 }
}

pub(super) fn per_ten(pricing: &Pricing, retention: RetentionMode) -> (ChargeKind, u64) {
    match retention {
        RetentionMode::Normal => (ChargeKind::Results, pricing.search_per_ten),
        RetentionMode::Anonymous => (ChargeKind::ResultsAnon, pricing.search_anon_per_ten),
        RetentionMode::Zero => (ChargeKind::ResultsZdr, pricing.search_zdr_per_ten),
    }
}

/// Returns the maximum credits of a single page with these proxies. Further pages of documents and redirects are not
/// included.
pub(crate) fn max_page_credits(pricing: &Pricing, proxies: &ProxyConfig, scrape: &ScrapePlan) -> u64 {
    let scan = if scrape.protection.is_some() { pricing.threat_scan } else { 0 };
    let retention = zero_retention_price(pricing, scrape).unwrap_or(0);
    max_content_credits(pricing, proxies, scrape).saturating_add(scan).saturating_add(retention)
}

/// Returns the maximum credits of an uploaded file. Further pages of a document are not included.
pub(crate) fn max_file_credits(pricing: &Pricing, scrape: &ScrapePlan) -> u64 {
    let retention = zero_retention_price(pricing, scrape).unwrap_or(0);
    max_content_credits(pricing, &ProxyConfig::default(), scrape).saturating_add(retention)
}

/// Returns the price of zero data retention of a page or file that is requested alone; `None` if it has none. Lockdown has
/// prices of its own, and so have searches under zero data retention, whatever they scrape.
fn zero_retention_price(pricing: &Pricing, scrape: &ScrapePlan) -> Option<u64> {
    let is_zero = scrape.retention == RetentionMode::Zero && !scrape.lockdown;
    is_zero.then_some(pricing.zero_data_retention)
}

/// Returns the minimum credits of a readable uploaded file.
pub(crate) fn min_file_credits(pricing: &Pricing) -> u64 {
    pricing.scrape.min(pricing.pdf_page).min(pricing.pdf_base64)
}

fn max_content_credits(pricing: &Pricing, proxies: &ProxyConfig, scrape: &ScrapePlan) -> u64 {
    let redaction = if scrape.redact_pii.is_some() { pricing.redact_pii } else { 0 };
    let page = if scrape.lockdown {
        pricing.lockdown_hit.max(pricing.lockdown_miss)
    } else {
        let ordinary = pricing.scrape.max(pricing.pdf_page).max(pricing.pdf_base64);
        match scrape.proxy {
            Proxy::Basic => ordinary,
            Proxy::Enhanced | Proxy::Auto if proxies.has_enhanced() => ordinary.max(pricing.scrape_enhanced),
            Proxy::Enhanced | Proxy::Auto => ordinary,
        }
    };
    let has = |name: &str| scrape.formats.iter().any(|format| needs_model(format) && format.name() == name);
    let requested =
        generated_items(pricing).into_iter().filter(|(formats, ..)| formats.iter().any(|name| has(name)));
    let page = page.saturating_add(max_media_credits(pricing, scrape));
    requested.fold(page.saturating_add(redaction), |sum, (.., price)| sum.saturating_add(price))
}

/// Charges a page. A failed page is free, except for a lockdown miss. Redaction is charged only if it was done.
fn charge_page(bill: &mut Bill, pricing: &Pricing, scrape: &ScrapePlan, result: &mut PageResult) {
    match result {
        PageResult::NotRequested => {}
        PageResult::Failed(_) => charge_miss(bill, pricing, scrape),
        PageResult::Page(page) => charge_success(bill, pricing, scrape, page),
    }
}

/// Charges a page that was requested alone, and writes the credits into its metadata. `None` is a failed page.
pub(crate) fn charge_single_page(
    pricing: &Pricing,
    plan: &ScrapePlan,
    page: Option<&mut Page>,
    scanned: u64,
) -> Bill {
    let mut bill = Bill::default();
    bill.add_line(ChargeKind::ThreatScan, scanned, pricing.threat_scan);
    match page {
        Some(page) => {
            charge_success(&mut bill, pricing, plan, page);
            if let Some(price) = zero_retention_price(pricing, plan)
                && produced::has_any(&plan.formats, page)
            {
                bill.add_line(ChargeKind::ZeroRetention, 1, price);
            }
            page.metadata.credits_used = Some(bill.total());
        }
        None => charge_miss(&mut bill, pricing, plan),
    }
    bill
}

/// Charges a failed page.
fn charge_miss(bill: &mut Bill, pricing: &Pricing, scrape: &ScrapePlan) {
    if let Some(price) = miss_price(pricing, scrape) {
        bill.add_line(ChargeKind::LockdownMiss, 1, price);
    }
}

/// Returns the price of a failed page, `None` if it is free.
pub(crate) fn miss_price(pricing: &Pricing, scrape: &ScrapePlan) -> Option<u64> {
    scrape.lockdown.then_some(pricing.lockdown_miss)
}

/// Charges a scraped page, and writes the credits into its metadata. A page without any requested format is free.
fn charge_success(bill: &mut Bill, pricing: &Pricing, scrape: &ScrapePlan, page: &mut Page) {
    if !produced::has_any(&scrape.formats, page) {
        page.metadata.credits_used = Some(0);
        return;
    }
    let mut credits = if scrape.lockdown {
        bill.add_line(ChargeKind::LockdownHit, 1, pricing.lockdown_hit)
    } else {
        charge_content(bill, pricing, page)
    };
    if page.is_redacted {
        credits += bill.add_line(ChargeKind::RedactPii, 1, pricing.redact_pii);
    }
    for (formats, kind, price) in generated_items(pricing) {
        if formats.iter().any(|format| page.generated.by_model.contains(format)) {
            credits += bill.add_line(kind, 1, price);
        }
    }
    credits += charge_media(bill, pricing, page);
    page.metadata.credits_used = Some(credits);
}

/// Returns the formats that a language model generates for a price of their own. Formats with one price are charged once.
fn generated_items(pricing: &Pricing) -> [(&'static [&'static str], ChargeKind, u64); 3] {
    [
        (&["json", "changeTracking"], ChargeKind::Json, pricing.json),
        (&["question"], ChargeKind::Question, pricing.question),
        (&["highlights"], ChargeKind::Highlights, pricing.highlights),
    ]
}

/// Returns whether a language model may generate a format. Changes of a page need one only in mode json.
fn needs_model(format: &Format) -> bool {
    match format {
        Format::ChangeTracking(options) => has_json_mode(options),
        Format::Summary(_) | Format::Json(_) | Format::Question(_) | Format::Highlights(_) => true,
        Format::Markdown(_)
        | Format::Html(_)
        | Format::RawHtml(_)
        | Format::RawBase64(_)
        | Format::Links(_)
        | Format::Images(_)
        | Format::Screenshot(_)
        | Format::Branding(_)
        | Format::Product(_)
        | Format::Menu(_)
        | Format::Audio(_)
        | Format::Video(_)
        | Format::Attributes(_) => false,
    }
}

fn charge_content(bill: &mut Bill, pricing: &Pricing, page: &Page) -> u64 {
    let enhanced = match page.metadata.proxy_used {
        Some(ProxyUsed::Stealth) => true,
        Some(ProxyUsed::Basic) | None => false,
    };
    let media_type = page.metadata.content_type.as_deref().and_then(|value| value.split(';').next());
    let is_pdf = media_type.is_some_and(|value| value.trim().eq_ignore_ascii_case(PDF));
    match (enhanced, page.metadata.num_pages.map(u64::from)) {
        // The price of the enhanced proxy replaces that of the first page.
        (true, read) => {
            bill.add_line(ChargeKind::EnhancedPage, 1, pricing.scrape_enhanced)
                + bill.add_line(ChargeKind::PdfPage, read.unwrap_or(1).saturating_sub(1), pricing.pdf_page)
        }
        (false, Some(read)) => bill.add_line(ChargeKind::PdfPage, read.max(1), pricing.pdf_page),
        (false, None) if is_pdf => bill.add_line(ChargeKind::PdfFile, 1, pricing.pdf_base64),
        (false, None) => bill.add_line(ChargeKind::Page, 1, pricing.scrape),
    }
}

#[cfg(test)]
mod tests;
