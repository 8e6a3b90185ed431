//! The sandbox of Chromium, and whether the system supports it.

use std::path::Path;

/// The warning if the sandbox is off.
pub(crate) const NO_SANDBOX: &str = "Chromium runs without its sandbox, because this process is root or the system does not let users create \
     namespaces: run websvc as another user";

/// The state of Chromium's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sandbox {
    On,
    Off,
}

impl Sandbox {
    /// Returns the state to expect of a start, as far as it is known before.
    pub(crate) fn expected(executable: &Path) -> Self {
        if rustix::process::geteuid().is_root() {
            return Self::Off;
        }
        let helper = executable.with_file_name("chrome-sandbox");
        let read = |path: &str| std::fs::read_to_string(path).ok();
        if helper.is_file() || users_can_create_namespaces(read) { Self::On } else { Self::Off }
    }
}

/// Returns whether the kernel lets users other than root create namespaces. It does if it has none of these settings.
pub(crate) fn users_can_create_namespaces(read: impl Fn(&str) -> Option<String>) -> bool {
    let is = |path: &str, value: &str| read(path).is_some_and(|text| text.trim() == value);
    !is("/proc/sys/user/max_user_namespaces", "0")
        && !is("/proc/sys/kernel/unprivileged_userns_clone", "0")
        && !is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_can_create_namespaces_unless_a_kernel_setting_forbids_it() {
        for (path, value, expected) in [
            ("/none", "", true),
            ("/proc/sys/user/max_user_namespaces", "0\n", false),
            ("/proc/sys/user/max_user_namespaces", "62000\n", true),
            ("/proc/sys/kernel/unprivileged_userns_clone", "0\n", false),
            ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", false),
        ] {
            let read = |requested: &str| (requested == path).then(|| value.to_owned());
            assert_eq!(users_can_create_namespaces(read), expected, "{path} {value}");
        }
    }
}
