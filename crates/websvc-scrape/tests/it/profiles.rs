//! The right to a profile: who has it, how it ends, and what becomes of what cannot be read.

use std::time::{Duration, Instant};

use serde_json::json;
use websvc_scrape::{OpenProfile, ScrapeError};
use websvc_store::{LockProfileOutcome, ProfileRecord};
use websvc_testkit::{TestWeb, until};
use websvc_types::{ErrorCode, Profile};

use crate::support::Bench;

async fn bench() -> Bench {
    Bench::new(TestWeb::builder().start().await)
}

impl Bench {
    async fn open(&self, name: &str, save_changes: Option<bool>) -> Result<OpenProfile, ScrapeError> {
        let profile = Profile { name: name.to_owned(), save_changes };
        self.scraper.open_profile("default", &profile).await
    }

    fn only(&self) -> Option<ProfileRecord> {
        self.store.list_profiles(None).unwrap().pop()
    }

    /// Waits until the only profile, or that there is none, is as it is wanted.
    async fn until(&self, is_so: impl Fn(Option<ProfileRecord>) -> bool) {
        until("the profile is as it is wanted", || is_so(self.only())).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_saver_holds_a_profile_until_it_is_closed_or_dropped() {
    let bench = bench().await;
    let saver = bench.open("shop", None).await.unwrap();
    assert!(saver.can_save());
    let refused = bench.open("shop", Some(true)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ProfileLocked);
    assert!(refused.to_string().contains("\"shop\""), "{refused}");
    // Others of the team, and readers, are not held up.
    let reader = bench.open("shop", Some(false)).await.unwrap();
    assert!(!reader.can_save());
    drop(bench.open("other", None).await.unwrap());
    assert_eq!(saver.close().await, None);
    // What was never saved is gone with the right to save it.
    bench.until(|only| only.is_none()).await;
    drop(bench.open("shop", None).await.unwrap());
    bench.until(|only| only.is_none()).await;
    drop(bench.open("shop", None).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_nobody_renews_ends_by_itself() {
    let bench = bench().await;
    let life = Duration::from_secs(30);
    let now_ms = 1_700_000_000_000;
    let dead = bench.store.lock_profile("default", "shop", now_ms, life).unwrap();
    assert!(matches!(dead, LockProfileOutcome::Leased(_)));
    bench.pass(life.checked_sub(Duration::from_millis(1)).unwrap());
    assert_eq!(bench.open("shop", None).await.unwrap_err().code(), ErrorCode::ProfileLocked);
    bench.pass(Duration::from_millis(1));
    bench.open("shop", None).await.unwrap();
}

#[tokio::test]
async fn the_right_is_renewed_while_the_request_goes_on() {
    let bench = bench().await;
    let saver = bench.open("shop", None).await.unwrap();
    let first = bench.only().unwrap().leased_until_ms.unwrap();
    bench.pass(Duration::from_secs(25));
    tokio::time::pause();
    // Time passes in steps: on a busy machine the task that renews may reach its timer after the first ones.
    let deadline = Instant::now() + Duration::from_secs(60);
    while bench.only().unwrap().leased_until_ms != Some(first + 25_000) {
        assert!(Instant::now() < deadline, "the right is not renewed");
        tokio::time::advance(Duration::from_secs(11)).await;
    }
    drop(saver);
    bench.until(|only| only.is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_state_of_a_browser_is_told_and_leaves_no_lock() {
    let bench = bench().await;
    let locked = bench.store.lock_profile("default", "shop", 0, Duration::from_secs(1)).unwrap();
    let LockProfileOutcome::Leased(lease) = locked else { panic!("{locked:?}") };
    bench.store.save_profile(&lease, b"cookies", 0).unwrap();
    bench.store.release_profile(&lease).unwrap();
    for save_changes in [true, false] {
        let error = bench.open("shop", Some(save_changes)).await.unwrap_err();
        assert_eq!(error.to_string(), "the profile \"shop\" cannot be read");
        assert_eq!(error.code(), ErrorCode::UnknownError);
        bench.until(|only| only.unwrap().leased_until_ms.is_none()).await;
    }
}

#[tokio::test]
async fn a_team_with_all_the_profiles_it_may_have_is_told_so() {
    let bench = bench().await;
    for n in 0..websvc_store::PROFILES_MAX {
        bench
            .store
            .lock_profile("default", &n.to_string(), 1_700_000_000_000, Duration::from_secs(9))
            .unwrap();
    }
    let error = bench.open("one more", None).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Forbidden);
    assert!(error.to_string().contains("1000 profiles"), "{error}");
}

#[tokio::test]
async fn only_the_cache_is_asked_without_a_profile() {
    let bench = bench().await;
    for (options, code) in [
        (json!({"profile": {"name": "p"}, "minAge": 0}), ErrorCode::ScrapeNoCachedData),
        (json!({"profile": {"name": "p"}, "lockdown": true}), ErrorCode::ScrapeLockdownCacheMiss),
    ] {
        assert_eq!(bench.get("http://a.test/", options).await.unwrap_err().code(), code);
    }
    assert_eq!(bench.world.requests().len(), 0);
}
