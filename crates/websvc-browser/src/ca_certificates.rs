//! CA certificates that Chromium trusts in addition to those of the system, stored in the directory of its process only.
//!
//! Chromium on Linux reads them from the NSS database in its home directory. The flag `--ignore-certificate-errors-spki-list`
//! needs no database, but it accepts every chain that contains such a certificate, even if the certificate did not sign
//! it: an attacker could append it to a chain of their own.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

/// The timeout for one run of certutil.
const CERTUTIL_TIMEOUT: Duration = Duration::from_secs(10);
const USUAL_DIRECTORIES: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin"];
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The warning if the certificates cannot be installed.
pub(crate) const NO_CERTUTIL: &str = "pages in the browser do not trust fetch.ca_file: certutil is missing (Debian, Ubuntu: apt install libnss3-tools)";

/// Returns whether certutil is installed.
pub(crate) fn can_be_installed() -> bool {
    certutil().is_some()
}

/// Returns the path of certutil, the program that edits the NSS database.
fn certutil() -> Option<PathBuf> {
    certutil_in(&std::env::var_os("PATH").unwrap_or_default())
}

/// Returns the first executable certutil in a list of directories, followed by the usual ones.
fn certutil_in(path: &OsStr) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path)
        .chain(USUAL_DIRECTORIES.iter().map(PathBuf::from))
        // Relative directories depend on the working directory and are ignored.
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("certutil"))
        .find(is_program)
}

/// Installs the certificates of a PEM file for a Chromium with the home directory `home`. If that fails, it logs the reason,
/// and Chromium does not trust the certificates.
pub(crate) async fn install(ca_file: &Path, home: &Path) {
    let Some(certutil) = certutil() else {
        tracing::warn!("{NO_CERTUTIL}");
        return;
    };
    if let Err(reason) = create_database(&certutil, ca_file, home).await {
        tracing::warn!(ca_file = %ca_file.display(), reason, "pages in the browser do not trust fetch.ca_file");
    }
}

async fn create_database(certutil: &Path, ca_file: &Path, home: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let text = tokio::fs::read_to_string(ca_file).await.map_err(failed)?;
    let directory = home.join(".pki").join("nssdb");
    tokio::fs::create_dir_all(&directory).await.map_err(failed)?;
    let database = format!("sql:{}", directory.display());
    run(certutil, &["-N", "-d", &database, "--empty-password"], home).await?;
    for (index, certificate) in certificates(&text).enumerate() {
        let file = home.join("authority.pem");
        tokio::fs::write(&file, certificate).await.map_err(failed)?;
        let (name, file) = (format!("websvc {index}"), file.display().to_string());
        // `C,,`: trusted as a CA for TLS servers only.
        run(certutil, &["-A", "-d", &database, "-n", &name, "-t", "C,,", "-i", &file], home).await?;
    }
    Ok(())
}

/// Returns the certificates of a PEM file, each as a PEM text of its own.
fn certificates(text: &str) -> impl Iterator<Item = String> {
    text.split(BEGIN).skip(1).filter_map(|rest| {
        let (body, _) = rest.split_once(END)?;
        Some(format!("{BEGIN}{body}{END}\n"))
    })
}

async fn run(certutil: &Path, arguments: &[&str], home: &Path) -> Result<(), String> {
    let mut command = Command::new(certutil);
    command.args(arguments).env_clear().env("PATH", USUAL_DIRECTORIES.join(":")).env("HOME", home);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output =
        timeout(CERTUTIL_TIMEOUT, command.output()).await.map_err(|_| "certutil timed out".to_owned())?;
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("certutil: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certutil_in_finds_executables_in_absolute_directories() {
        let directories = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let [without, not_a_program, with] = directories.each_ref().map(tempfile::TempDir::path);
        for (directory, mode) in [(not_a_program, 0o644), (with, 0o755)] {
            let file = directory.join("certutil");
            std::fs::write(&file, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([without, not_a_program, with]).unwrap();
        assert_eq!(certutil_in(&path), Some(with.join("certutil")));
        let usual = USUAL_DIRECTORIES.iter().map(|directory| Path::new(directory).join("certutil"));
        let installed = usual.clone().any(|path| path.is_file());
        assert_eq!(certutil_in(OsStr::new(".")).is_some(), installed, "relative directories are ignored");
    }

    #[test]
    fn certificates_ignores_other_text() {
        let text = format!("# one\n{BEGIN}\nAAA\n{END}\nwords\n{BEGIN}\nBBB\n{END}\n{BEGIN}\ncut");
        let found: Vec<String> = certificates(&text).collect();
        assert_eq!(found, [format!("{BEGIN}\nAAA\n{END}\n"), format!("{BEGIN}\nBBB\n{END}\n")]);
    }
}
