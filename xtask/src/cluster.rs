//! `cargo xtask cluster`: tests and measures replicas of the service on a PostgreSQL server.
//!
//! The tests start three replicas, a load balancer and an S3-compatible server (s3s-fs) on loopback: see
//! `crates/websvc-cli/tests/it/cluster/`.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

use crate::pgbouncer::{self, PgBouncer};
use crate::postgres::{self, PostgresServer, Standby};
use crate::test::PROOF_VARIABLE;
use crate::{Result, bench, cargo, faketime, root};

/// Environment variable with a program that stops the primary and promotes its standby.
const FAILOVER_VARIABLE: &str = "WEBSVC_TEST_FAILOVER";

/// The tests of the store that need a standby.
pub(crate) const FAILOVER_TESTS: &str = "failover::";

/// Runs the tests on a server, random faults, the failover to a standby, and the measurements.
pub(crate) fn run() -> Result {
    run_tests()?;
    run_faults()?;
    run_failover(tests_of("websvc-store", FAILOVER_TESTS))?;
    run_bench()
}

/// Runs the tests of the store, those of replicas, and those of the store through a pooler.
pub(crate) fn run_tests() -> Result {
    let server = PostgresServer::start()?;
    for (package, variable, filter) in [
        ("websvc-store", postgres::STORE_VARIABLE, ""),
        ("websvc-server", postgres::REPLICAS_VARIABLE, "replicas::"),
        ("websvc-cli", postgres::REPLICAS_VARIABLE, "cluster::"),
    ] {
        let mut tests = tests_of(package, filter);
        run_command(tests.env(variable, server.url()))?;
    }
    let pooler = PgBouncer::start(&server)?;
    let mut tests = tests_of("websvc-store", "");
    tests.env(postgres::STORE_VARIABLE, server.url()).env(pgbouncer::VARIABLE, pooler.address());
    run_command(&mut tests)?;
    Ok(())
}

/// Causes random faults of replicas, clocks, network and index server while jobs run, and prints what happened. A run
/// with other faults has another seed, which `WEBSVC_TEST_SEED` repeats.
pub(crate) fn run_faults() -> Result {
    let server = PostgresServer::start()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let seed = env::var("WEBSVC_TEST_SEED").unwrap_or_else(|_| now.to_string());
    let mut tests = tests_of("websvc-cli", "cluster::faults::");
    tests.arg("--nocapture").env(postgres::REPLICAS_VARIABLE, server.url());
    tests.env(PROOF_VARIABLE, "1").env("WEBSVC_TEST_SEED", seed);
    if env::var_os(faketime::VARIABLE).is_none() {
        tests.env(faketime::VARIABLE, faketime::prepare()?);
    }
    run_command(&mut tests)
}

/// Promotes a standby while a store is open. `tests` runs the tests [`FAILOVER_TESTS`] of the store.
pub(crate) fn run_failover(mut tests: Command) -> Result {
    let primary = PostgresServer::start()?;
    let standby = Standby::start(&primary)?;
    let program = standby.dir().join("fail-over.sh");
    fs::write(&program, standby.failover_script(&primary))?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    tests.env(postgres::STORE_VARIABLE, standby.url_of_both(&primary)).env(FAILOVER_VARIABLE, &program);
    run_command(&mut tests)
}

/// Measures the throughput of one to three replicas. The server flushes to disk, as one in production does.
pub(crate) fn run_bench() -> Result {
    let server = PostgresServer::start_durable()?;
    bench::run_cluster(&server.url())
}

/// Returns a command that builds and runs tests of a package.
pub(crate) fn tests_of(package: &str, filter: &str) -> Command {
    println!("==> tests of {package} {filter}");
    let mut command = cargo::cargo();
    command.args(["test", "--package", package, "--test", "it", "--", filter]);
    command
}

fn run_command(command: &mut Command) -> Result {
    let status = command.current_dir(root()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
}
