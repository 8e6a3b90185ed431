//! Measures the latencies of the store: `cargo run --release -p websvc-store --example store_cost`.

#![expect(clippy::print_stdout, reason = "the example prints its measurements")]

use std::error::Error;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use websvc_store::{
    ApiVersion, CacheLimits, CachedPage, HoldOutcome, PageKey, Store, Team, TeamChange, Usage, UsageItem,
    UsageRetention, UsageStage,
};

const KEYS: usize = 1_000;
const ROUNDS: usize = 200_000;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let started = Instant::now();
    let store = Store::open(dir.path())?;
    report("open a new store", &mut [started.elapsed()]);
    report_memory("open store");

    let mut times = Vec::with_capacity(KEYS);
    let mut secrets = Vec::with_capacity(KEYS);
    for n in 0..KEYS {
        let started = Instant::now();
        secrets.push(store.create_key(&format!("team {}", n % 100), "")?.secret);
        times.push(started.elapsed());
    }
    report("create a key, flushed to disk", &mut times);

    let secret = |n: usize| secrets[n % KEYS].expose();
    measure("authenticate, first use of a key", KEYS, |n| black_box(store.authenticate(secret(n))).is_ok());
    measure("authenticate, known key", ROUNDS, |n| black_box(store.authenticate(secret(n * 7))).is_ok());
    measure("authenticate, one key", ROUNDS, |_| black_box(store.authenticate(secret(0))).is_ok());
    measure("authenticate, unknown key", 20_000, |n| {
        black_box(store.authenticate(&format!("fc-{n:032x}"))).is_ok()
    });
    let started = Instant::now();
    thread::scope(|scope| {
        for offset in 0..16 {
            let (store, secret) = (&store, &secret);
            scope.spawn(move || {
                (0..20_000).all(|n| black_box(store.authenticate(secret(n + offset))).is_ok())
            });
        }
    });
    println!("authenticate, 16 threads: {:.0} per second", 320_000.0 / started.elapsed().as_secs_f64());

    measure_credits(&store)?;
    measure_pages(&store)?;
    report_memory("after everything");
    Ok(())
}

/// Measures the cost of the accounting of a request: on the thread of the request, and with the flush.
fn measure_credits(store: &Store) -> Result<(), Box<dyn Error>> {
    const TEAMS: usize = 10_000;
    let grant = |n: usize, credits: Option<u64>| {
        let change = TeamChange { credits: Some(credits), ..TeamChange::default() };
        store.set_team(&format!("payer {n}"), &change)
    };
    let unlimited = (0..TEAMS).map(|n| grant(n, None)).collect::<Result<Vec<_>, _>>()?;
    let with_budget = grant(TEAMS, Some(u64::MAX >> 2))?;
    let request = |team: &Team| match store
        .try_hold(team, 12)
        .ok()
        .flatten()
        .map_or_else(|| store.hold(team, 12), Ok)
    {
        Ok(HoldOutcome::Granted(hold)) => hold.settle(usage()) > 0,
        Ok(HoldOutcome::Insufficient { .. }) | Err(_) => false,
    };
    for (what, teams) in [
        ("one team without a budget", &unlimited[..1]),
        ("10,000 teams without a budget", &unlimited[..]),
        ("one team with a budget", std::slice::from_ref(&with_budget)),
    ] {
        let (started, cpu) = (Instant::now(), cpu_time());
        measure(&format!("account for a request, {what}"), ROUNDS, |n| {
            // More often than the store flushes by itself, which would drop log rows at this rate.
            (n % 20_000 != 0 || store.flush_credits().is_ok()) && request(&teams[n % teams.len()])
        });
        store.flush_credits()?;
        let (elapsed, cpu) = (started.elapsed(), cpu_time().saturating_sub(cpu));
        let each = |time: Duration| time.as_secs_f64() * 1e6 / ROUNDS as f64;
        println!(
            "  with the flush to the database: {:.1} us of CPU, {:.1} us in total",
            each(cpu),
            each(elapsed)
        );
    }
    Ok(())
}

fn usage() -> Usage {
    Usage {
        key: None,
        request: "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60".to_owned(),
        result: None,
        operation: "search",
        api_version: ApiVersion::V2,
        status: 200,
        elapsed: Duration::from_millis(2),
        items: vec![UsageItem { item: "results".to_owned(), count: 1, credits: 2 }],
        stages: vec![UsageStage { stage: "find".to_owned(), elapsed: Duration::from_millis(1) }],
        query: Some("brew green tea".to_owned()),
        retention: UsageRetention::Whole,
    }
}

/// Returns the CPU time of this process so far; zero on systems without `/proc`.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    // The unit is 10 ms on every Linux system.
    Duration::from_millis(ticks * 10)
}

fn measure_pages(store: &Store) -> Result<(), Box<dyn Error>> {
    // Text with about the redundancy of a real page.
    let word = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let words: Vec<String> = (0..6_000).map(|n| format!("<b>{:x}</b> word ", word(n))).collect();
    let body = Bytes::from(words.concat());
    let limits = CacheLimits { max_bytes: 20 << 20, ..CacheLimits::default() };
    let entry = |n: usize| CachedPage {
        key: PageKey::new(format!("https://example.com/page/{n}"), ""),
        final_url: format!("https://example.com/page/{n}"),
        status: 200,
        headers: vec![("content-type".to_owned(), "text/html".to_owned())],
        body: body.clone(),
        fetched_at_ms: n as u64,
        truncated: false,
    };
    println!("a page of {} KB:", body.len() / 1000);
    measure("put a page (with eviction after a while)", 2_000, |n| {
        store.put_page(&entry(n), &limits).is_ok()
    });
    println!("{:?}", store.cache_size()?);
    measure("get a page", 2_000, |n| {
        matches!(black_box(store.page(&entry(1_999 - n % 200).key)), Ok(Some(_)))
    });
    Ok(())
}

fn measure(what: &str, rounds: usize, mut step: impl FnMut(usize) -> bool) {
    let mut times = Vec::with_capacity(rounds);
    for n in 0..rounds {
        let started = Instant::now();
        assert!(step(n), "{what} failed in round {n}");
        times.push(started.elapsed());
    }
    report(what, &mut times);
}

fn report(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let mean = times.iter().sum::<Duration>() / times.len() as u32;
    println!("{what}: mean {mean:?}, p50 {:?}, p99 {:?}, max {:?}", at(0.5), at(0.99), at(1.0));
}

fn report_memory(when: &str) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("VmRSS: unknown");
    println!("{when}: {resident}");
}
