//! Certificates that Chromium trusts beside the system's, kept in the folder of its process alone.
//!
//! Chromium on Linux reads them from the NSS database of its user, whose home is that folder. A flag would do without a
//! database (`--ignore-certificate-errors-spki-list`), but it believes every chain that holds such a certificate, signed
//! by it or not: whoever stands between could add it to their own.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

/// How long the program may take for one certificate.
const LIMIT: Duration = Duration::from_secs(10);
const USUAL_DIRECTORIES: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin"];
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Said when the certificates cannot be made known.
pub(crate) const NO_CERTUTIL: &str = "pages in the browser do not trust fetch.ca_file: certutil is missing (Debian, Ubuntu: apt install libnss3-tools)";

/// Tells whether the program is there that makes certificates known.
pub(crate) fn can_be_installed() -> bool {
    certutil().is_some()
}

/// Returns the program that makes certificates known.
fn certutil() -> Option<PathBuf> {
    certutil_in(&std::env::var_os("PATH").unwrap_or_default())
}

/// Returns the first certutil that can be run in a list of directories, and in those that systems have.
fn certutil_in(path: &OsStr) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path)
        .chain(USUAL_DIRECTORIES.iter().map(PathBuf::from))
        // A relative one is somebody's working directory.
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("certutil"))
        .find(is_program)
}

/// Makes the certificates of a PEM file known to the Chromium that will have `home` as its home. Without the program
/// for it pages that need them fail as untrusted ones do, and the log says why.
pub(crate) async fn install(ca_file: &Path, home: &Path) {
    let Some(certutil) = certutil() else {
        tracing::warn!("{NO_CERTUTIL}");
        return;
    };
    if let Err(reason) = fill(&certutil, ca_file, home).await {
        tracing::warn!(ca_file = %ca_file.display(), reason, "pages in the browser do not trust fetch.ca_file");
    }
}

async fn fill(certutil: &Path, ca_file: &Path, home: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let text = tokio::fs::read_to_string(ca_file).await.map_err(failed)?;
    let folder = home.join(".pki").join("nssdb");
    tokio::fs::create_dir_all(&folder).await.map_err(failed)?;
    let database = format!("sql:{}", folder.display());
    run(certutil, &["-N", "-d", &database, "--empty-password"], home).await?;
    for (place, certificate) in certificates(&text).enumerate() {
        let file = home.join("authority.pem");
        tokio::fs::write(&file, certificate).await.map_err(failed)?;
        let (name, file) = (format!("websvc {place}"), file.display().to_string());
        // Trusted to sign certificates of servers, and for nothing else.
        run(certutil, &["-A", "-d", &database, "-n", &name, "-t", "C,,", "-i", &file], home).await?;
    }
    Ok(())
}

/// Returns the certificates of a PEM file, each as a file of its own.
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
    let output = timeout(LIMIT, command.output()).await.map_err(|_| "certutil does not end".to_owned())?;
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
    fn certutil_is_found_in_the_path_that_it_is_run_from() {
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
        assert_eq!(certutil_in(OsStr::new(".")).is_some(), installed, "relative directories do not count");
    }

    #[test]
    fn certificates_are_taken_out_of_whatever_surrounds_them() {
        let text = format!("# one\n{BEGIN}\nAAA\n{END}\nwords\n{BEGIN}\nBBB\n{END}\n{BEGIN}\ncut");
        let found: Vec<String> = certificates(&text).collect();
        assert_eq!(found, [format!("{BEGIN}\nAAA\n{END}\n"), format!("{BEGIN}\nBBB\n{END}\n")]);
    }
}
