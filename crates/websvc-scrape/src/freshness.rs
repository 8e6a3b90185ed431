//! The cache rules for serving a cached page (specification, section 2.2: maxAge, minAge, lockdown).

use std::time::Duration;

use websvc_validate::ScrapePlan;

use crate::error::ScrapeError;

/// The cache options of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Freshness {
    /// The maximum age of a cached page that is served.
    pub(crate) max_age: Duration,
    /// The minimum age of a cached page; if set, the page is served from the cache only.
    pub(crate) min_age: Option<Duration>,
    /// If set, the page is served from the cache only, and nothing is logged.
    pub(crate) lockdown: bool,
}

/// The action for a page with a cached copy of a given age.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Serve the cached copy.
    Serve,
    /// Fetch the page.
    Fetch,
}

impl Freshness {
    pub(crate) fn from_plan(plan: &ScrapePlan) -> Self {
        Self { max_age: plan.max_age, min_age: plan.min_age, lockdown: plan.lockdown }
    }

    /// Returns whether a cached page may be served at all.
    pub(crate) fn uses_cache(self) -> bool {
        self.lockdown || self.min_age.is_some() || !self.max_age.is_zero()
    }

    /// Returns whether the page may be served from the cache only.
    pub(crate) fn is_cache_only(self) -> bool {
        self.lockdown || self.min_age.is_some()
    }

    /// Decides by the age of the cached copy; `None` if there is none.
    ///
    /// # Errors
    /// The 404 conditions of `minAge` and lockdown, which never fetch.
    pub(crate) fn decide(self, age: Option<Duration>) -> Result<Decision, ScrapeError> {
        let is_young_enough = age.is_some_and(|age| age <= self.max_age);
        let is_old_enough = age.is_some_and(|age| self.min_age.is_none_or(|min_age| age >= min_age));
        if self.lockdown {
            return if is_young_enough && is_old_enough {
                Ok(Decision::Serve)
            } else {
                Err(ScrapeError::LockdownMiss)
            };
        }
        if self.min_age.is_some() {
            return if is_old_enough { Ok(Decision::Serve) } else { Err(ScrapeError::NoCachedData) };
        }
        Ok(if is_young_enough { Decision::Serve } else { Decision::Fetch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    #[derive(Debug, PartialEq)]
    enum Outcome {
        Serve,
        Fetch,
        NoCachedData,
        LockdownMiss,
    }

    fn check(freshness: Freshness, age: Option<Duration>, expected: &Outcome) {
        let outcome = match freshness.decide(age) {
            Ok(Decision::Serve) => Outcome::Serve,
            Ok(Decision::Fetch) => Outcome::Fetch,
            Err(ScrapeError::NoCachedData) => Outcome::NoCachedData,
            Err(ScrapeError::LockdownMiss) => Outcome::LockdownMiss,
            Err(other) => panic!("{other}"),
        };
        assert_eq!(&outcome, expected, "{freshness:?} {age:?}");
    }

    #[test]
    fn max_age_decides_between_cache_and_fetch() {
        let freshness = Freshness { max_age: 2 * DAY, min_age: None, lockdown: false };
        check(freshness, None, &Outcome::Fetch);
        check(freshness, Some(2 * DAY), &Outcome::Serve);
        check(freshness, Some(2 * DAY + Duration::from_millis(1)), &Outcome::Fetch);
    }

    #[test]
    fn max_age_zero_always_fetches() {
        let freshness = Freshness { max_age: Duration::ZERO, min_age: None, lockdown: false };
        assert!(!freshness.uses_cache());
        check(freshness, Some(Duration::from_millis(1)), &Outcome::Fetch);
    }

    #[test]
    fn min_age_never_fetches() {
        let freshness = Freshness { max_age: DAY, min_age: Some(DAY), lockdown: false };
        check(freshness, None, &Outcome::NoCachedData);
        check(freshness, Some(DAY - Duration::from_millis(1)), &Outcome::NoCachedData);
        check(freshness, Some(DAY), &Outcome::Serve);
        check(freshness, Some(9 * DAY), &Outcome::Serve);
    }

    #[test]
    fn lockdown_never_fetches() {
        let freshness = Freshness { max_age: 2 * DAY, min_age: None, lockdown: true };
        check(freshness, None, &Outcome::LockdownMiss);
        check(freshness, Some(3 * DAY), &Outcome::LockdownMiss);
        check(freshness, Some(DAY), &Outcome::Serve);
    }
}
