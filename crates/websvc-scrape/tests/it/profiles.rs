//! Tests of browser profiles: the lease to save one, its end, and profiles that cannot be read.

use std::time::{Duration, Instant};

use serde_json::json;
use websvc_scrape::{OpenProfile, ScrapeError};
use websvc_store::{LockProfileOutcome, ProfileRecord};
use websvc_testkit::{TestWeb, until};
use websvc_types::{ErrorCode, Profile};

use crate::support::Fixture;

async fn fixture() -> Fixture {
    Fixture::new(TestWeb::builder().start().await)
}

impl Fixture {
    /// Opens a profile of the default team.
    async fn open(&self, name: &str, save_changes: Option<bool>) -> Result<OpenProfile, ScrapeError> {
        let profile = Profile { name: name.to_owned(), save_changes };
        self.scraper.open_profile("default", &profile).await
    }

    /// Returns the only profile.
    fn profile(&self) -> Option<ProfileRecord> {
        self.store.list_profiles(None).unwrap().pop()
    }

    /// Waits until the only profile, or its absence, meets a condition.
    async fn wait_until(&self, is_met: impl Fn(Option<ProfileRecord>) -> bool) {
        until("the profile meets the condition", || is_met(self.profile())).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn profile_is_locked_until_its_saver_is_closed_or_dropped() {
    let fixture = fixture().await;
    let saver = fixture.open("shop", None).await.unwrap();
    assert!(saver.can_save());
    let locked = fixture.open("shop", Some(true)).await.unwrap_err();
    assert_eq!(locked.code(), ErrorCode::ProfileLocked);
    assert!(locked.to_string().contains("\"shop\""), "{locked}");
    // Readers, and other profiles of the team, are not locked.
    let reader = fixture.open("shop", Some(false)).await.unwrap();
    assert!(!reader.can_save());
    drop(fixture.open("other", None).await.unwrap());
    assert_eq!(saver.close().await, None);
    // A profile that was never saved is removed with its lease.
    fixture.wait_until(|profile| profile.is_none()).await;
    drop(fixture.open("shop", None).await.unwrap());
    fixture.wait_until(|profile| profile.is_none()).await;
    drop(fixture.open("shop", None).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn lease_expires_without_renewal() {
    let fixture = fixture().await;
    let lease_duration = Duration::from_secs(30);
    let now_ms = 1_700_000_000_000;
    let abandoned = fixture.store.lock_profile("default", "shop", now_ms, lease_duration).unwrap();
    assert!(matches!(abandoned, LockProfileOutcome::Leased(_)));
    fixture.advance(lease_duration.checked_sub(Duration::from_millis(1)).unwrap());
    assert_eq!(fixture.open("shop", None).await.unwrap_err().code(), ErrorCode::ProfileLocked);
    fixture.advance(Duration::from_millis(1));
    fixture.open("shop", None).await.unwrap();
}

#[tokio::test]
async fn lease_is_renewed_while_the_profile_is_open() {
    let fixture = fixture().await;
    let saver = fixture.open("shop", None).await.unwrap();
    let first = fixture.profile().unwrap().leased_until_ms.unwrap();
    fixture.advance(Duration::from_secs(25));
    tokio::time::pause();
    // Time advances in steps: on a busy machine the renewal task may set its timer after the first steps.
    let deadline = Instant::now() + Duration::from_secs(60);
    while fixture.profile().unwrap().leased_until_ms != Some(first + 25_000) {
        assert!(Instant::now() < deadline, "the lease is not renewed");
        tokio::time::advance(Duration::from_secs(11)).await;
    }
    drop(saver);
    fixture.wait_until(|profile| profile.is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_profile_is_an_error_and_stays_unlocked() {
    let fixture = fixture().await;
    let locked = fixture.store.lock_profile("default", "shop", 0, Duration::from_secs(1)).unwrap();
    let LockProfileOutcome::Leased(lease) = locked else { panic!("{locked:?}") };
    fixture.store.save_profile(&lease, b"cookies", 0).unwrap();
    fixture.store.release_profile(&lease).unwrap();
    for save_changes in [true, false] {
        let error = fixture.open("shop", Some(save_changes)).await.unwrap_err();
        assert_eq!(error.to_string(), "the profile \"shop\" cannot be read");
        assert_eq!(error.code(), ErrorCode::UnknownError);
        fixture.wait_until(|profile| profile.unwrap().leased_until_ms.is_none()).await;
    }
}

#[tokio::test]
async fn profile_beyond_the_maximum_is_an_error() {
    let fixture = fixture().await;
    for n in 0..websvc_store::PROFILES_MAX {
        fixture
            .store
            .lock_profile("default", &n.to_string(), 1_700_000_000_000, Duration::from_secs(9))
            .unwrap();
    }
    let error = fixture.open("one more", None).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Forbidden);
    assert!(error.to_string().contains("1000 profiles"), "{error}");
}

#[tokio::test]
async fn cache_only_request_needs_no_profile() {
    let fixture = fixture().await;
    for (options, code) in [
        (json!({"profile": {"name": "p"}, "minAge": 0}), ErrorCode::ScrapeNoCachedData),
        (json!({"profile": {"name": "p"}, "lockdown": true}), ErrorCode::ScrapeLockdownCacheMiss),
    ] {
        assert_eq!(fixture.scrape("http://a.test/", options).await.unwrap_err().code(), code);
    }
    assert_eq!(fixture.web.requests().len(), 0);
}
