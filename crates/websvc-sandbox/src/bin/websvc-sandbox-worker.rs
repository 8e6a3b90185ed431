//! A worker without the service around it, for the tests of this crate. With an argument, it is the guest of a sandbox.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(exit_code) = websvc_sandbox::agent_browser() {
        return exit_code;
    }
    match std::env::args().nth(1) {
        Some(settings) => websvc_sandbox::run_guest(&settings),
        None => websvc_sandbox::run_worker(),
    }
}
