//! Pages that only show a PDF file, such as a viewer: their content is that of the file.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use url::Url;
use websvc_types::{Format, ProxyUsed};
use websvc_validate::ScrapePlan;

use crate::browse::RenderMode;
use crate::error::ScrapeError;
use crate::format::{only_shows, shows_content};
use crate::freshness::Freshness;
use crate::page::Page;
use crate::scraper::Scraper;

/// The part of the remaining time that is kept for the answer if the file takes too long.
const RESERVE_DIVISOR: u32 = 8;

impl Scraper {
    /// Replaces the content of a page that only shows a PDF file by that of the file, under the rules of a scrape of the
    /// file. If it cannot be read, the warning of the page has the reason.
    pub(crate) async fn follow_embedded(&self, page: &mut Page, plan: &ScrapePlan, deadline: Instant) {
        let Some(target) = page.embedded_document.take() else { return };
        let listed = only_shows(&target);
        let shown = match Box::pin(self.scrape_embedded(page, &target, plan, deadline)).await {
            Ok(document) => {
                page.adopt(document);
                format!("the page only shows another document, whose content this is: {target}")
            }
            Err(reason) => format!("{listed}: it was not read: {reason}"),
        };
        page.warnings.iter_mut().filter(|warning| **warning == listed).for_each(|warning| {
            warning.clone_from(&shown);
        });
    }

    /// Scrapes the file that a page shows, and returns it, or the reason for the caller why there is none.
    async fn scrape_embedded(
        &self,
        page: &Page,
        target: &Url,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<Page, String> {
        let text = |error: ScrapeError| error.to_string();
        let remaining = deadline.saturating_duration_since(Instant::now());
        let deadline = deadline.checked_sub(remaining / RESERVE_DIVISOR).unwrap_or(deadline);
        let shown_by = page.metadata.url.as_deref().and_then(|url| Url::parse(url).ok());
        let shown_by = shown_by.ok_or("its page has no URL")?;
        self.check_final_url(&shown_by, target).await.map_err(text)?;
        let plan = file_plan(plan, shown_by.origin() == target.origin());
        let freshness = Freshness::from_plan(&plan);
        let scraping = self.scrape_cached(target, &plan, freshness, RenderMode::IfShell, deadline);
        let document = scraping.await.map_err(text)?;
        match (document.metadata.num_pages, document.metadata.status_code) {
            (Some(_), _) => Ok(document),
            (None, Some(status)) if status >= 400 => Err(format!("its host responded {status}")),
            (None, _) => Err("it is not a PDF file".to_owned()),
        }
    }
}

impl Page {
    /// Takes the content of the file that the page shows. The source, the files of the browser and what the page declares
    /// stay; the file adds what the page does not declare.
    fn adopt(&mut self, document: Page) {
        let Page { markdown, html, links, images, pages, blocks, metadata, .. } = document;
        (self.markdown, self.html, self.images) = (markdown, html, images);
        (self.pages, self.blocks) = (pages, blocks);
        if let Some(known) = &mut self.links {
            let seen: HashSet<String> = known.iter().cloned().collect();
            known.extend(links.into_iter().flatten().filter(|link| !seen.contains(link)));
        }
        let own = &mut self.metadata;
        (own.num_pages, own.total_pages) = (metadata.num_pages, metadata.total_pages);
        own.title = own.title.take().or(metadata.title);
        own.description = own.description.take().or(metadata.description);
        own.language = own.language.take().or(metadata.language);
        if metadata.proxy_used == Some(ProxyUsed::Stealth) {
            own.proxy_used = metadata.proxy_used;
        }
        for (name, value) in metadata.other {
            own.other.entry(name).or_insert(value);
        }
        self.is_redacted &= document.is_redacted;
        self.elapsed += document.elapsed;
        self.index_copy = document.index_copy.or(self.index_copy.take());
        self.warnings.extend(document.warnings);
    }
}

/// Returns the plan for a file that a page shows: with its content only, without what the browser does with the page. The
/// headers of the request are only for the origin that they were given for.
fn file_plan(plan: &ScrapePlan, is_same_origin: bool) -> ScrapePlan {
    let mut plan = if is_same_origin { plan.clone() } else { plan.without_headers() };
    plan.formats.retain(|format: &Format| shows_content(format));
    plan.actions.clear();
    plan.wait_for = Duration::ZERO;
    plan.profile = None;
    plan
}
