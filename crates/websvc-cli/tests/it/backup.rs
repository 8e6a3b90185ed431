//! Tests of `websvc backup` while the server runs, and of commands that are killed.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Service, Site, signal, tea_world, wait};

#[tokio::test(flavor = "multi_thread")]
async fn backup_of_a_running_server_works_as_a_data_directory() {
    let world = tea_world().await;
    let site = Site::new(&world);
    site.succeed(&["index", "crawl", "http://tea.test/"]);
    site.succeed(&["teams", "set", "readers", "--requests-per-minute", "77"]);
    let key = site.create_key(&["--team", "readers", "--scope", "search"]);
    let service = site.serve();
    service.index_pages(&[("zymurgy", "http://beer.test/")]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("websvc.tar");
    std::fs::write(&file, "an older backup").unwrap();
    let report: Value =
        serde_json::from_str(&site.succeed(&["backup", file.to_str().unwrap(), "--json"])).unwrap();
    assert!(report["files"].as_u64().unwrap() > 5, "{report}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file is left");
    // A later key is not in the backup.
    site.succeed(&["keys", "create", "--team", "later"]);
    assert!(service.stop().success());

    let restored = Site::new(&world);
    let unpacked =
        Command::new("tar").arg("-xf").arg(&file).arg("-C").arg(restored.data_dir()).output().unwrap();
    assert!(unpacked.status.success(), "{unpacked:?}");
    let keys = restored.succeed(&["keys", "list", "--json"]);
    assert!(keys.contains("readers") && !keys.contains("later"), "{keys}");
    let mut service = restored.serve();
    service.key = key;
    let response = service.search(json!({ "query": "brewing tea" })).await;
    assert_eq!(response.status, 200);
    assert!(response.body.to_string().contains("http://tea.test/"), "{}", response.body);
    assert_eq!(response.headers["ratelimit-limit"], "77");
    assert!(service.search(json!({ "query": "zymurgy" })).await.body.to_string().contains("beer.test"));
    assert!(service.stop().success());
    let doctor = restored.run(&["doctor", "--json"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("valid, version"), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_with_wrong_extension_is_rejected() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("websvc.zip");
    let output = site.run(&["backup", file.to_str().unwrap()]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains(".tar"), "{output:?}");
    assert!(!file.exists());
}

/// Returns the names of all keys.
fn key_names(site: &Site) -> Vec<String> {
    let keys: Value = serde_json::from_str(&site.succeed(&["keys", "list", "--json"])).unwrap();
    let key_names = keys.as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap().to_owned());
    key_names.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_and_killed_commands_corrupt_nothing() {
    const COMMANDS: usize = 24;
    let world = tea_world().await;
    let site = Site::new(&world);
    let service: Service = site.serve();
    let mut processes = Vec::new();
    for number in 0..COMMANDS {
        let name = format!("key {number}");
        let arguments = ["keys", "create", "--team", "crowd", "--name", &name];
        let mut command = site.command(&arguments);
        processes.push((name.clone(), command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()));
        if number % 3 == 0 {
            // Each process is killed at another point of its work.
            std::thread::sleep(Duration::from_millis(number as u64));
            signal(&processes[number].1, "KILL");
        }
        assert_eq!(service.search(json!({ "query": "tea" })).await.status, 200);
    }
    let mut created = Vec::new();
    for (name, mut process) in processes {
        // A key whose command succeeded must exist. The key of a killed command may exist.
        if wait(&mut process).success() {
            created.push(name);
        }
    }
    assert!(created.len() >= COMMANDS / 2, "too few commands succeeded: {created:?}");
    let names = key_names(&site);
    for name in &created {
        assert_eq!(names.iter().filter(|listed| *listed == name).count(), 1, "{name}");
    }
    service.kill();
    drop(service);
    assert_eq!(key_names(&site), names, "the kill of the server lost keys");
    let service = site.serve();
    assert_eq!(service.search(json!({ "query": "tea" })).await.status, 200);
    assert!(service.stop().success());
    let doctor = site.run(&["doctor", "--json"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("valid, version"), "{doctor:?}");
}
