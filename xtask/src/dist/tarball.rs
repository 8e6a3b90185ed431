//! The tarball: the program with everything that a system needs to run it, in one directory.

use std::path::PathBuf;

use super::{Release, copy, reproducible_tar, set_mode};
use crate::debian::run as run_command;
use crate::{Result, root};

/// Makes `websvc-VERSION-ARCH-linux.tar.gz`.
pub(super) fn make(release: &Release) -> Result<PathBuf> {
    let name = format!("websvc-{}-{}-linux", release.version, release.arch);
    let stage = release.target.join("stage/tarball");
    let dir = stage.join(&name);
    copy(&release.program.path, &dir.join("websvc"))?;
    set_mode(&dir.join("websvc"), 0o755)?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        copy(&root().join(file), &dir.join(file))?;
    }
    copy(&root().join("docs/deploy/proxy/websvc.toml"), &dir.join("websvc.toml"))?;
    for (from, to) in [
        (release.program.completions.clone(), "completions"),
        (release.program.manual.clone(), "man"),
        (root().join("docs/deploy/systemd"), "systemd"),
    ] {
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &dir.join(to).join(entry.file_name()))?;
        }
    }
    let path = release.target.join(format!("{name}.tar.gz"));
    let mut tar = reproducible_tar(&release.time);
    tar.args(["--owner=0", "--group=0", "--mode=u=rwX,go=rX", "--use-compress-program=gzip -n"]);
    run_command(tar.arg("--file").arg(&path).arg("-C").arg(&stage).arg(&name))?;
    Ok(path)
}
