//! The Debian package: the program, its user, its unit, and a configuration that upgrades keep.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Release, copy, set_mode};
use crate::debian::run as run_command;
use crate::{Result, root};

/// Directory of the unit, in which the program is elsewhere than where people install it by hand.
const SYSTEM_UNITS: &str = "usr/lib/systemd/system";

const POSTINST: &str = r#"#!/bin/sh
set -e
if [ "$1" = configure ]; then
    if ! getent passwd websvc >/dev/null; then
        useradd --system --user-group --home-dir /var/lib/websvc --no-create-home --shell /usr/sbin/nologin websvc
    fi
    install --directory --owner=websvc --group=websvc --mode=0700 /var/lib/websvc
    if [ -d /run/systemd/system ]; then
        systemctl daemon-reload
        if [ -z "$2" ]; then
            systemctl enable --now websvc.service
        else
            systemctl try-restart websvc.service
        fi
    fi
fi
"#;

const PRERM: &str = r#"#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl disable --now websvc.service
fi
"#;

/// The data stay until the package is purged.
const POSTRM: &str = r#"#!/bin/sh
set -e
if [ "$1" = purge ]; then
    rm -rf /var/lib/websvc
    if getent passwd websvc >/dev/null; then
        userdel websvc || true
    fi
fi
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
fi
"#;

/// Makes `websvc_VERSION_ARCH.deb` with `dpkg-deb`.
pub(super) fn make(release: &Release) -> Result<PathBuf> {
    let arch = match release.arch {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let stage = release.target.join("stage/deb");
    install_files(release, &stage)?;
    let control = stage.join("DEBIAN");
    fs::create_dir_all(&control)?;
    fs::write(control.join("control"), fields(release, arch))?;
    fs::write(control.join("conffiles"), "/etc/websvc/websvc.toml\n/etc/websvc/websvc.env\n")?;
    for (name, script) in [("postinst", POSTINST), ("prerm", PRERM), ("postrm", POSTRM)] {
        fs::write(control.join(name), script)?;
        set_mode(&control.join(name), 0o755)?;
    }
    let path = release.target.join(format!("websvc_{}_{arch}.deb", release.version));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zgzip", "--build"]).arg(&stage).arg(&path);
    run_command(build.env("SOURCE_DATE_EPOCH", &release.time))?;
    Ok(path)
}

fn install_files(release: &Release, stage: &Path) -> Result {
    let systemd = root().join("docs/deploy/systemd");
    let program = &release.program;
    for (from, to, mode) in [
        (program.path.clone(), "usr/bin/websvc", 0o755),
        (root().join("docs/deploy/proxy/websvc.toml"), "etc/websvc/websvc.toml", 0o644),
        (systemd.join("websvc.env"), "etc/websvc/websvc.env", 0o600),
        (systemd.join("websvc.sysusers"), "usr/lib/sysusers.d/websvc.conf", 0o644),
        (program.completions.join("websvc.bash"), "usr/share/bash-completion/completions/websvc", 0o644),
        (program.completions.join("_websvc"), "usr/share/zsh/vendor-completions/_websvc", 0o644),
        (program.completions.join("websvc.fish"), "usr/share/fish/vendor_completions.d/websvc.fish", 0o644),
        (root().join("LICENSE-MIT"), "usr/share/doc/websvc/LICENSE-MIT", 0o644),
        (root().join("LICENSE-APACHE"), "usr/share/doc/websvc/LICENSE-APACHE", 0o644),
    ] {
        copy(&from, &stage.join(to))?;
        set_mode(&stage.join(to), mode)?;
    }
    // The configuration of the proxy is an example. As it is installed, the service listens on loopback only.
    fs::write(stage.join("etc/websvc/websvc.toml"), CONFIGURATION)?;
    for name in ["websvc.service", "websvc-backup.service", "websvc-backup.timer"] {
        let unit =
            fs::read_to_string(systemd.join(name))?.replace("/usr/local/bin/websvc", "/usr/bin/websvc");
        let path = stage.join(SYSTEM_UNITS).join(name);
        fs::create_dir_all(stage.join(SYSTEM_UNITS))?;
        fs::write(&path, unit)?;
        set_mode(&path, 0o644)?;
    }
    let copyright = "websvc is licensed under the MIT license or the Apache license 2.0, at your choice: see LICENSE-MIT and \
        LICENSE-APACHE in this directory.\n";
    fs::write(stage.join("usr/share/doc/websvc/copyright"), copyright)?;
    let pages = stage.join("usr/share/man/man1");
    fs::create_dir_all(&pages)?;
    for entry in fs::read_dir(&program.manual)? {
        let entry = entry?;
        let page = pages.join(entry.file_name());
        copy(&entry.path(), &page)?;
        run_command(Command::new("gzip").args(["-9n"]).arg(&page))?;
    }
    Ok(())
}

const CONFIGURATION: &str = r#"# Configuration of websvc. The manual lists all keys: docs/configuration.md, or the page Configuration of `websvc demo`.
# Secrets belong into /etc/websvc/websvc.env, which only root can read.

[server]
# For this machine only. For others, put a proxy in front of it, or set 0.0.0.0:3002.
listen = "127.0.0.1:3002"

[search]
# Public APIs such as Wikipedia, in addition to the pages that you crawl: `websvc sources list` shows them.
#presets = ["open"]
# Your email address, for the owners of these APIs.
#contact = "you@example.com"

[log]
format = "json"
"#;

fn fields(release: &Release, arch: &str) -> String {
    let libc = release
        .program
        .glibc
        .as_ref()
        .map_or_else(String::new, |glibc| format!("libc6 (>= {glibc}), libgcc-s1, "));
    format!(
        "Package: websvc\nVersion: {}\nArchitecture: {arch}\nSection: web\nPriority: optional\n\
         Maintainer: the websvc developers <websvc@localhost>\nDepends: {libc}ca-certificates, passwd\n\
         Recommends: chromium-headless-shell | chromium\nSuggests: bubblewrap, tesseract-ocr, poppler-utils\n\
         Description: self-hosted web data service\n \
         Searches the web and returns the content of the results as Markdown, HTML,\n \
         structured data or screenshots, over the wire format of Firecrawl version 2.\n \
         One program with its own index; no other services are needed.\n",
        release.version
    )
}
