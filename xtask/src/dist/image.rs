//! The image for containers, as an archive that `docker load`, `podman load` and `skopeo` read. No daemon is needed to
//! make it: on an empty base, it has one layer with the program, its libraries and certificates, and before that one with a
//! browser, if there is one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{Release, copy, reproducible_tar, set_mode};
use crate::Result;
use crate::debian::run as run_command;

/// User and group of the service. A number, because Kubernetes (`runAsNonRoot`) cannot check a name.
const USER: &str = "10001:10001";

const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Makes `websvc-VERSION-ARCH.oci.tar`, or `websvc-VERSION-ARCH-chromium.oci.tar` with the files of a browser.
pub(super) fn make(release: &Release, browser: Option<&Path>) -> Result<PathBuf> {
    let suffix = if browser.is_some() { "-chromium" } else { "" };
    let stage = release.target.join(format!("stage/image{suffix}"));
    let (files, layout) = (stage.join("files"), stage.join("layout"));
    add_files(release, &files)?;
    let blobs = layout.join("blobs/sha256");
    fs::create_dir_all(&blobs)?;
    // The browser comes first: it changes less often than the program, and a registry stores its layer once.
    let layers = browser.into_iter().chain([files.as_path()]);
    let layers: Vec<Layer> =
        layers.map(|files| layer(release, files, &stage, &blobs)).collect::<Result<_>>()?;
    let tag = format!("websvc:{}{suffix}", release.version);
    let config = add_json(&blobs, &config(release, &layers))?;
    let described = layers.iter().map(|Layer { blob, .. }| {
        json!({ "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": blob.digest(), "size": blob.size })
    });
    let manifest = add_json(
        &blobs,
        &json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": { "mediaType": "application/vnd.oci.image.config.v1+json", "digest": config.digest(), "size": config.size },
            "layers": described.collect::<Vec<_>>(),
        }),
    )?;
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": manifest.digest(), "size": manifest.size,
            "annotations": { "io.containerd.image.name": format!("docker.io/library/{tag}"), "org.opencontainers.image.ref.name": format!("{}{suffix}", release.version) },
        }],
    });
    // The form of `docker save`, which older versions of `docker load` expect.
    let paths: Vec<String> = layers.iter().map(|layer| layer.blob.path()).collect();
    let docker = json!([{ "Config": config.path(), "RepoTags": [tag], "Layers": paths }]);
    for (name, value) in [
        ("oci-layout", json!({ "imageLayoutVersion": "1.0.0" })),
        ("index.json", index),
        ("manifest.json", docker),
    ] {
        fs::write(layout.join(name), value.to_string())?;
    }
    let path = release.target.join(format!("websvc-{}-{}{suffix}.oci.tar", release.version, release.arch));
    let mut tar = reproducible_tar(&release.time);
    tar.args(["--owner=0", "--group=0", "--mode=u=rwX,go=rX"]).arg("--file").arg(&path);
    run_command(tar.arg("-C").arg(&layout).args(["blobs", "index.json", "manifest.json", "oci-layout"]))?;
    Ok(path)
}

fn add_files(release: &Release, files: &Path) -> Result {
    copy(&release.program.path, &files.join("usr/bin/websvc"))?;
    set_mode(&files.join("usr/bin/websvc"), 0o755)?;
    for library in &release.program.libraries {
        // `ldd` prints absolute paths. Links are followed, because the loader asks for the name of the link.
        copy(library, &files.join(library.strip_prefix("/")?))?;
    }
    if Path::new(CERTIFICATES).exists() {
        copy(Path::new(CERTIFICATES), &files.join(CERTIFICATES.trim_start_matches('/')))?;
    }
    for (path, text) in [
        (
            "etc/passwd",
            "root:x:0:0::/root:/sbin/nologin\nwebsvc:x:10001:10001::/var/lib/websvc:/sbin/nologin\n",
        ),
        ("etc/group", "root:x:0:\nwebsvc:x:10001:\n"),
        ("etc/nsswitch.conf", "hosts: files dns\n"),
    ] {
        let path = files.join(path);
        fs::create_dir_all(path.parent().expect("it has a directory"))?;
        fs::write(path, text)?;
    }
    for directory in ["tmp", "var/lib/websvc"] {
        fs::create_dir_all(files.join(directory))?;
    }
    Ok(())
}

/// A layer: its blob, and the digest of the archive before compression.
struct Layer {
    blob: Blob,
    diff_id: String,
}

/// Packs files into the blob of a layer.
fn layer(release: &Release, files: &Path, stage: &Path, blobs: &Path) -> Result<Layer> {
    let archive = stage.join("layer.tar");
    // The directories with other owners and modes come first, and are left out of the rest.
    let special = [("10001", "0700", "./var/lib/websvc"), ("0", "1777", "./tmp")];
    for (owner, mode, directory) in special.into_iter().filter(|(.., name)| files.join(name).exists()) {
        let mut tar = append(&release.time);
        tar.arg(format!("--owner={owner}")).arg(format!("--group={owner}")).arg(format!("--mode={mode}"));
        run_command(
            tar.arg("--no-recursion").arg("--file").arg(&archive).arg("-C").arg(files).arg(directory),
        )?;
    }
    let mut tar = append(&release.time);
    tar.args([
        "--owner=0",
        "--group=0",
        "--mode=u=rwX,go=rX",
        "--exclude=./tmp",
        "--exclude=./var/lib/websvc",
    ]);
    run_command(tar.arg("--file").arg(&archive).arg("-C").arg(files).arg("."))?;
    let diff_id = sha256(&archive)?;
    run_command(Command::new("gzip").arg("-n").arg(&archive))?;
    let compressed = stage.join("layer.tar.gz");
    let digest = sha256(&compressed)?;
    let path = blobs.join(&digest);
    fs::rename(&compressed, &path)?;
    Ok(Layer { blob: Blob { size: fs::metadata(&path)?.len(), digest }, diff_id })
}

/// Returns a `tar` command that appends to an archive.
fn append(time: &str) -> Command {
    let mut tar = Command::new("tar");
    let create = reproducible_tar(time);
    tar.arg("--append").args(create.get_args().filter(|argument| *argument != "--create"));
    tar
}

fn config(release: &Release, layers: &[Layer]) -> Value {
    let arch = match release.arch {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let diff_ids: Vec<String> = layers.iter().map(|layer| format!("sha256:{}", layer.diff_id)).collect();
    let second = 1_000_000_000_u64;
    json!({
        "architecture": arch,
        "os": "linux",
        "config": {
            "User": USER,
            "Env": [
                "PATH=/usr/bin", "WEBSVC_DATA_DIR=/var/lib/websvc", "WEBSVC__SERVER__LISTEN=0.0.0.0:3002",
                format!("SSL_CERT_FILE={CERTIFICATES}"),
            ],
            "Entrypoint": ["/usr/bin/websvc"],
            "Cmd": ["serve"],
            "WorkingDir": "/var/lib/websvc",
            "ExposedPorts": { "3002/tcp": {} },
            "Volumes": { "/var/lib/websvc": {} },
            "StopSignal": "SIGTERM",
            // Not a part of the OCI format; Docker and podman read it.
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/websvc", "ready"],
                "Interval": 15 * second, "Timeout": 5 * second, "StartPeriod": 60 * second, "Retries": 3,
            },
            "Labels": {
                "org.opencontainers.image.title": "websvc",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": { "type": "layers", "diff_ids": diff_ids },
        "history": vec![json!({ "created_by": "cargo xtask dist" }); layers.len()],
    })
}

/// A file of the image that is named after its digest.
struct Blob {
    digest: String,
    size: u64,
}

impl Blob {
    fn digest(&self) -> String {
        format!("sha256:{}", self.digest)
    }

    fn path(&self) -> String {
        format!("blobs/sha256/{}", self.digest)
    }
}

fn add_json(blobs: &Path, value: &Value) -> Result<Blob> {
    let text = value.to_string();
    let draft = blobs.join("draft");
    fs::write(&draft, &text)?;
    let digest = sha256(&draft)?;
    fs::rename(&draft, blobs.join(&digest))?;
    Ok(Blob { digest, size: text.len() as u64 })
}

fn sha256(file: &Path) -> Result<String> {
    let output = run_command(Command::new("sha256sum").arg(file))?;
    let text = String::from_utf8(output.stdout)?;
    let digest = text.split_whitespace().next().filter(|digest| digest.len() == 64);
    digest.map(str::to_owned).ok_or_else(|| format!("sha256sum printed {text:?}").into())
}
