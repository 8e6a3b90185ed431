//! Interactive sessions: the page that a session opens, and its price.

use std::time::{Duration, Instant};

use url::Url;
use websvc_scrape::InteractivePage;
use websvc_validate::ScrapePlan;

use crate::bill::{Bill, ChargeKind};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::search::UrlCheckers;

/// The kind of use of a session, which decides its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionUse {
    /// By code and over the DevTools protocol.
    Code,
    /// By at least one prompt.
    Prompt,
}

impl Engine {
    /// Opens the page of a session with the options of a scrape, until `deadline`; an empty page without a URL. The profile
    /// of the plan is open until the page is closed.
    ///
    /// # Errors
    /// [`EngineError::Profile`] and [`EngineError::Page`].
    pub async fn open_interactive(
        &self,
        url: Option<&Url>,
        plan: &ScrapePlan,
        team: &str,
        deadline: Instant,
    ) -> Result<InteractivePage, EngineError> {
        let checkers = UrlCheckers::of_page(plan, self.threat());
        let scraper = checkers.scraper(self.scraper());
        let profile = self.open_profile(team, Some(plan)).await?;
        let opening = Box::pin(scraper.open_interactive(url, plan, profile, deadline));
        opening.await.map_err(EngineError::Page)
    }

    /// Returns the charge for a session: per started second, and for at least a minute.
    #[must_use]
    pub fn session_bill(&self, duration: Duration, usage: SessionUse) -> Bill {
        let (kind, price) = match usage {
            SessionUse::Code => (ChargeKind::Session, self.pricing().session),
            SessionUse::Prompt => (ChargeKind::SessionPrompt, self.pricing().session_prompt),
        };
        let started = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
        let seconds = started.max(60);
        let credits = seconds.saturating_mul(price).div_ceil(60);
        let mut bill = Bill::default();
        // The unit of the log is a credit: the price of a second is a fraction.
        bill.add_line(kind, credits, 1);
        bill
    }
}
