//! Browser profiles, as their operator sees them.

use std::time::Duration;

use serde_json::Value;
use websvc_store::{ProfileLocking, Store};
use websvc_testkit::World;

use crate::harness::Site;

#[tokio::test(flavor = "multi_thread")]
async fn profiles_are_listed_and_deleted_beside_others_who_use_them() {
    let world = World::builder().start().await;
    let site = Site::new(&world);
    let store = Store::open(site.data_dir()).unwrap();
    let locked = store.lock_profile("default", "shop", 1000, Duration::from_secs(60)).unwrap();
    let ProfileLocking::Leased(lease) = locked else { panic!("{locked:?}") };
    store.save_profile(&lease, b"cookies", 1000).unwrap();
    store.release_profile(&lease).unwrap();

    let listed: Value = serde_json::from_str(&site.succeed(&["profiles", "list", "--json"])).unwrap();
    let expected = serde_json::json!([{
        "team": "default", "name": "shop", "bytes": 7, "savedAt": "1970-01-01T00:00:01Z", "leasedUntil": null,
    }]);
    assert_eq!(listed, expected);
    assert!(site.succeed(&["profiles", "list"]).contains("shop"));
    assert_eq!(site.succeed(&["profiles", "list", "--team", "others", "--json"]), "[]\n");

    let refused = site.run(&["profiles", "delete", "shop", "--team", "others"]);
    assert!(!refused.status.success(), "{refused:?}");
    assert_eq!(site.succeed(&["profiles", "delete", "shop"]), "deleted shop of team default\n");
    assert_eq!(store.profile("default", "shop").unwrap(), None);
}
