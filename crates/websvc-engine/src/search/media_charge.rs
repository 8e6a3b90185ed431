//! The charge for downloaded media (specification, section 8).

use websvc_scrape::Page;
use websvc_validate::ScrapePlan;

use crate::bill::{Bill, ChargeKind};
use crate::pricing::Pricing;

/// Charges the downloaded media of a page, and returns their credits.
pub(super) fn charge_media(bill: &mut Bill, pricing: &Pricing, page: &Page) -> u64 {
    let items =
        [(&page.audio, ChargeKind::Audio, pricing.audio), (&page.video, ChargeKind::Video, pricing.video)];
    let done = items.into_iter().filter(|(url, ..)| url.is_some());
    done.map(|(_, kind, price)| bill.add_line(kind, 1, price)).sum()
}

/// Returns the maximum credits for the media of a page. Under lockdown, nothing is downloaded.
pub(super) fn max_media_credits(pricing: &Pricing, scrape: &ScrapePlan) -> u64 {
    if scrape.lockdown {
        return 0;
    }
    let is_requested = |name: &str| scrape.formats.iter().any(|format| format.name() == name);
    let items = [("audio", pricing.audio), ("video", pricing.video)];
    let requested = items.into_iter().filter(|(name, _)| is_requested(name));
    requested.fold(0, |sum, (_, price)| sum.saturating_add(price))
}
