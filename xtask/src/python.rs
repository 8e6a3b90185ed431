//! A Python with the official SDK, for the tests that drive the service as its users do.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cache::Cache;
use crate::debian::{self, run};

/// Tells the tests which Python to use.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_PYTHON";
const SDK: &str = "firecrawl-py==4.55.0";

/// Requirements of the SDK without its lower bound on certifi. That package is a list of trust anchors and the
/// tests speak plain HTTP on loopback, so an older one changes nothing that they prove.
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

/// Tools that test the OpenAPI document and validate it.
const OPENAPI_TOOLS: &[&str] = &["schemathesis==4.32.5", "openapi-spec-validator==0.9.0"];

/// Returns the interpreter of a virtual environment with the SDK, making it the first time.
pub(crate) fn prepare() -> Result<PathBuf> {
    environment(SDK, "import firecrawl", install_sdk)
}

/// Returns the interpreter of a virtual environment with schemathesis and a validator of OpenAPI documents, making it
/// the first time.
pub(crate) fn prepare_openapi_tools() -> Result<PathBuf> {
    environment(&OPENAPI_TOOLS.join("+"), "import openapi_spec_validator, schemathesis", |pip| {
        pip.install(OPENAPI_TOOLS).map_err(|error| pip_failed(&OPENAPI_TOOLS.join(" "), error.as_ref()))
    })
}

/// Returns the interpreter of the virtual environment of this name; `probe` is Python that runs only where the
/// packages are there.
fn environment(name: &str, probe: &str, install: fn(&Pip) -> Result) -> Result<PathBuf> {
    let cache = Cache::open()?;
    let folder = format!("python/{name}");
    let environment = cache.dir().join(&folder);
    let python = environment.join("bin/python");
    let marker = environment.join("ready");
    // A new system Python leaves old environments broken, so the marker alone is not enough.
    if marker.is_file() && run(Command::new(&python).args(["-c", probe])).is_ok() {
        return Ok(python);
    }
    println!("python: installing {name} into {}", environment.display());
    let environment = cache.fresh(&folder)?;
    let source = create(&cache, &environment)
        .map_err(|error| format!("cannot make a virtual environment (install python3-venv): {error}"))?;
    install(&Pip { python: python.clone(), source })?;
    fs::write(marker, "")?;
    Ok(python)
}

/// The pip of an environment.
struct Pip {
    python: PathBuf,
    source: PipSource,
}

/// The ways to reach pip.
enum PipSource {
    /// Inside the environment.
    Own,
    /// A wheel, which Python can run as it is.
    Wheel(PathBuf),
}

/// Makes the environment. Debian splits what `venv` needs to bring pip along into a package that is often not
/// installed; then pip's wheel is taken out of the Debian package that holds it.
fn create(cache: &Cache, environment: &Path) -> Result<PipSource> {
    let venv =
        |options: &[&str]| run(Command::new("python3").args(["-m", "venv"]).args(options).arg(environment));
    let Err(error) = venv(&["--clear"]) else { return Ok(PipSource::Own) };
    venv(&["--clear", "--without-pip"])?;
    let unpacked = cache.fresh("pip")?;
    debian::unpack(cache, "python3-pip-whl", &unpacked).map_err(|second| format!("{error}\n{second}"))?;
    for entry in fs::read_dir(unpacked.join("usr/share/python-wheels"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("pip-") && path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(PipSource::Wheel(path));
        }
    }
    Err(error)
}

impl Pip {
    fn install(&self, arguments: &[&str]) -> Result {
        let mut command = Command::new(&self.python);
        match &self.source {
            PipSource::Own => command.args(["-m", "pip"]),
            PipSource::Wheel(wheel) => command.arg(wheel.join("pip")),
        };
        run(command.args(["install", "--quiet", "--disable-pip-version-check"]).args(arguments))?;
        Ok(())
    }
}

/// Installs exactly what a user gets. Where the package index does not have a certifi that is new enough for the SDK,
/// the SDK is installed beside the newest that there is, and that is said.
fn install_sdk(pip: &Pip) -> Result {
    let Err(error) = pip.install(&[SDK]) else { return Ok(()) };
    if !error.to_string().contains("certifi") {
        return Err(pip_failed(SDK, error.as_ref()));
    }
    println!(
        "python: the package index has no certifi as new as {SDK} asks for; an older one takes its place"
    );
    pip.install(RELAXED).map_err(|error| pip_failed(SDK, error.as_ref()))?;
    pip.install(&["--no-deps", SDK]).map_err(|error| pip_failed(SDK, error.as_ref()))
}

fn pip_failed(what: &str, error: &dyn Error) -> Box<dyn Error> {
    format!("cannot install {what} from PyPI: {}", last_line(&error.to_string())).into()
}

/// Returns pip's verdict: before it come retries, or every version there ever was.
fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or_default()
}
