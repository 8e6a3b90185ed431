//! `websvc backup` beside a running server, and commands that are killed in the middle.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Service, Site, signal, tea_world, wait};

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_running_server_starts_as_a_data_directory_and_answers() {
    let world = tea_world().await;
    let site = Site::new(&world);
    site.succeed(&["index", "crawl", "http://tea.test/"]);
    site.succeed(&["teams", "set", "readers", "--requests-per-minute", "77"]);
    let key = site.succeed(&["keys", "create", "--team", "readers", "--scope", "search"]).trim().to_owned();
    let service = site.serve();
    service.list(&[("zymurgy", "http://beer.test/")]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("websvc.tar");
    std::fs::write(&file, "an older one").unwrap();
    let said: Value =
        serde_json::from_str(&site.succeed(&["backup", file.to_str().unwrap(), "--json"])).unwrap();
    assert!(said["files"].as_u64().unwrap() > 5, "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    // What comes after it is not in it.
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
    let answer = service.search(json!({ "query": "brewing tea" })).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.to_string().contains("http://tea.test/"), "{}", answer.body);
    assert_eq!(answer.headers["ratelimit-limit"], "77");
    assert!(service.search(json!({ "query": "zymurgy" })).await.body.to_string().contains("beer.test"));
    assert!(service.stop().success());
    let said = restored.run(&["doctor", "--json"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("sound, version"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_says_what_its_name_has_to_be() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("websvc.zip");
    let wrong = site.run(&["backup", file.to_str().unwrap()]);
    assert!(!wrong.status.success());
    assert!(String::from_utf8_lossy(&wrong.stderr).contains(".tar"), "{wrong:?}");
    assert!(!file.exists());
}

/// Returns the names of all keys.
fn labels(site: &Site) -> Vec<String> {
    let keys: Value = serde_json::from_str(&site.succeed(&["keys", "list", "--json"])).unwrap();
    let labels = keys.as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap().to_owned());
    labels.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_commands_beside_a_server_lose_nothing_and_killed_ones_break_nothing() {
    const COMMANDS: usize = 24;
    let world = tea_world().await;
    let site = Site::new(&world);
    let service: Service = site.serve();
    let mut processes = Vec::new();
    for number in 0..COMMANDS {
        let label = format!("key {number}");
        let arguments = ["keys", "create", "--team", "crowd", "--name", &label];
        let mut command = site.command(&arguments);
        processes
            .push((label.clone(), command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()));
        if number % 3 == 0 {
            // At another point of its life each time.
            std::thread::sleep(Duration::from_millis(number as u64));
            signal(&processes[number].1, "KILL");
        }
        assert_eq!(service.search(json!({ "query": "tea" })).await.status, 200);
    }
    let mut created = Vec::new();
    for (label, mut process) in processes {
        // Whoever was told that the key is there has it, and whoever was killed may have it.
        if wait(&mut process).success() {
            created.push(label);
        }
    }
    assert!(created.len() >= COMMANDS / 2, "most were not killed: {created:?}");
    let kept = labels(&site);
    for label in &created {
        assert_eq!(kept.iter().filter(|kept| kept == &label).count(), 1, "{label}");
    }
    service.kill();
    drop(service);
    assert_eq!(labels(&site), kept, "a killed server takes nothing with it");
    let service = site.serve();
    assert_eq!(service.search(json!({ "query": "tea" })).await.status, 200);
    assert!(service.stop().success());
    let said = site.run(&["doctor", "--json"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("sound, version"), "{said:?}");
}
