//! A worker without the service around it, for the tests of this crate. With an argument, it is the guest of a sandbox.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        if let Some(exit_code) = websvc_sandbox::agent_browser() {
            return exit_code;
        }
        if let Some(settings) = std::env::args().nth(1) {
            return websvc_sandbox::run_guest(&settings);
        }
    }
    websvc_sandbox::run_worker()
}
