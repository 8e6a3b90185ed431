//! A Python with the official SDK, for the tests that drive the service as its users do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cache::Cache;
use crate::debian::{self, run};

/// Tells the tests which Python to use.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_PYTHON";
const REQUIREMENT: &str = "firecrawl-py==4.55.0";

/// What the SDK requires, without its lower bound on certifi. That package is a list of trust anchors and the tests
/// speak plain HTTP on loopback, so an older one changes nothing that they prove.
const RELAXED: &[&str] = &[
    "aiohttp",
    "certifi",
    "httpx",
    "nest-asyncio",
    "pydantic>=2.0",
    "python-dotenv",
    "requests",
    "websockets",
];

/// Returns the interpreter of a virtual environment with the SDK, making it the first time.
pub(crate) fn prepare() -> Result<PathBuf> {
    let cache = Cache::open()?;
    let name = format!("python/{REQUIREMENT}");
    let environment = cache.dir().join(&name);
    let python = environment.join("bin/python");
    let marker = environment.join("ready");
    // A new system Python leaves old environments broken, so the marker alone is not enough.
    if marker.is_file() && run(Command::new(&python).args(["-c", "import firecrawl"])).is_ok() {
        return Ok(python);
    }
    println!("python: installing {REQUIREMENT} into {}", environment.display());
    let environment = cache.fresh(&name)?;
    let pip = create(&cache, &environment)
        .map_err(|error| format!("cannot make a virtual environment (install python3-venv): {error}"))?;
    install(&pip, &python)?;
    fs::write(marker, "")?;
    Ok(python)
}

/// The ways to reach pip.
enum Pip {
    /// Inside the environment.
    Own,
    /// A wheel, which Python can run as it is.
    Wheel(PathBuf),
}

/// Makes the environment. Debian splits what `venv` needs to bring pip along into a package that is often not
/// installed; then pip's wheel is taken out of the Debian package that holds it.
fn create(cache: &Cache, environment: &Path) -> Result<Pip> {
    let venv =
        |options: &[&str]| run(Command::new("python3").args(["-m", "venv"]).args(options).arg(environment));
    let Err(error) = venv(&["--clear"]) else { return Ok(Pip::Own) };
    venv(&["--clear", "--without-pip"])?;
    let unpacked = cache.fresh("pip")?;
    debian::unpack(cache, "python3-pip-whl", &unpacked).map_err(|second| format!("{error}\n{second}"))?;
    for entry in fs::read_dir(unpacked.join("usr/share/python-wheels"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("pip-") && path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(Pip::Wheel(path));
        }
    }
    Err(error)
}

/// Installs exactly what a user gets. Where the package index does not have a certifi that is new enough for the SDK,
/// the SDK is installed beside the newest that there is, and that is said.
fn install(pip: &Pip, python: &Path) -> Result {
    let pip = |arguments: &[&str]| {
        let mut command = Command::new(python);
        match pip {
            Pip::Own => command.args(["-m", "pip"]),
            Pip::Wheel(wheel) => command.arg(wheel.join("pip")),
        };
        run(command.args(["install", "--quiet", "--disable-pip-version-check"]).args(arguments))
    };
    let Err(error) = pip(&[REQUIREMENT]) else { return Ok(()) };
    let failed = |error: &dyn std::fmt::Display| {
        format!("cannot install {REQUIREMENT} from PyPI: {}", last_line(&error.to_string()))
    };
    if !error.to_string().contains("certifi") {
        return Err(failed(&error).into());
    }
    println!(
        "python: the package index has no certifi as new as {REQUIREMENT} asks for; an older one takes its place"
    );
    pip(RELAXED).map_err(|error| failed(&error))?;
    pip(&["--no-deps", REQUIREMENT]).map_err(|error| failed(&error))?;
    Ok(())
}

/// Returns pip's verdict: before it come retries, or every version there ever was.
fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or_default()
}
