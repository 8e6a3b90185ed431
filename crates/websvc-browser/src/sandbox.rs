//! Chromium's own walls around its pages: whether they are up, and whether they could be.

use std::path::Path;

/// Said when Chromium's own walls are down.
pub(crate) const NO_SANDBOX: &str = "Chromium runs without its sandbox, because this process is root or the system does not let users make \
     namespaces: run websvc as another user";

/// Whether Chromium's own sandbox is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sandbox {
    On,
    Off,
}

impl Sandbox {
    /// Returns what a start will come to, as far as one can tell without it.
    pub(crate) fn expected(executable: &Path) -> Self {
        if rustix::process::geteuid().is_root() {
            return Self::Off;
        }
        let helper = executable.with_file_name("chrome-sandbox");
        let read = |path: &str| std::fs::read_to_string(path).ok();
        if helper.is_file() || users_may_make_namespaces(read) { Self::On } else { Self::Off }
    }
}

/// Tells whether the kernel lets users other than root make namespaces; where it does not say, it does.
fn users_may_make_namespaces(read: impl Fn(&str) -> Option<String>) -> bool {
    let is = |path: &str, value: &str| read(path).is_some_and(|text| text.trim() == value);
    !is("/proc/sys/user/max_user_namespaces", "0")
        && !is("/proc/sys/kernel/unprivileged_userns_clone", "0")
        && !is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_there_unless_the_kernel_says_otherwise() {
        for (path, value, expected) in [
            ("/none", "", true),
            ("/proc/sys/user/max_user_namespaces", "0\n", false),
            ("/proc/sys/user/max_user_namespaces", "62000\n", true),
            ("/proc/sys/kernel/unprivileged_userns_clone", "0\n", false),
            ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", false),
        ] {
            let read = |asked: &str| (asked == path).then(|| value.to_owned());
            assert_eq!(users_may_make_namespaces(read), expected, "{path} {value}");
        }
    }
}
