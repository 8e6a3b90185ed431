//! A worker without the service around it, for the tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    websvc_sandbox::run_worker()
}
