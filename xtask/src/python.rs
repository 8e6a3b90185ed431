//! Creates Python virtual environments with the official SDK, a mail server and the OpenAPI tools.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cache::Cache;
use crate::debian::{self, run};

/// Environment variable with the path of the Python interpreter that has the SDK and a mail server.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_PYTHON";
const SDK: &str = "firecrawl-py==4.55.0";
/// A mail server for the tests of notifications, in the same environment.
const MAIL_SERVER: &str = "aiosmtpd==1.4.6";

/// Requirements of the SDK without its lower bound on certifi. That package is a list of trust anchors, and the tests
/// use plain HTTP on loopback, so an older version does not weaken them.
const RELAXED_REQUIREMENTS: &[&str] = &[
    "aiohttp",
    "certifi",
    "httpx",
    "nest-asyncio",
    "pydantic>=2.0",
    "python-dotenv",
    "requests",
    "websockets",
];

/// Playwright, with the version of Node that it drives browsers with, for tests of interpreters.
const PLAYWRIGHT: &str = "playwright==1.65.2";

/// The downloader of media, for tests of the formats `audio` and `video`.
const YT_DLP: &str = "yt-dlp[default]==2026.10.26";

/// Environment variable with the path of the Python interpreter that has document loaders.
pub(crate) const LOADERS_VARIABLE: &str = "WEBSVC_TEST_LOADERS";

/// Document loaders of LangChain and LlamaIndex, which use the SDK.
const LOADERS: &[&str] =
    &["langchain-firecrawl==0.1.0", "langchain-community==0.4.2", "llama-index-readers-web==0.7.0"];

/// Programs that read PDF files, to compare with.
const PDF_READERS: &[&str] =
    &["pymupdf4llm==2.0", "pymupdf==2.0", "pdfplumber==0.11.10", "markitdown[pdf]==0.1.9"];

/// Packages that test and validate the OpenAPI document.
const OPENAPI_TOOLS: &[&str] = &["schemathesis==4.32.5", "openapi-spec-validator==0.9.0"];

/// Returns the interpreter of a virtual environment with the SDK and a mail server. Creates it if it is missing.
pub(crate) fn prepare() -> Result<PathBuf> {
    environment(SDK, "import aiosmtpd, firecrawl", |pip| {
        install_sdk(pip)?;
        pip.install(&[MAIL_SERVER]).map_err(|error| pip_failed(MAIL_SERVER, error.as_ref()))
    })
}

/// Returns the interpreter of a virtual environment with Playwright. Creates it if it is missing.
pub(crate) fn prepare_playwright() -> Result<PathBuf> {
    environment(PLAYWRIGHT, "import playwright", |pip| {
        pip.install(&[PLAYWRIGHT]).map_err(|error| pip_failed(PLAYWRIGHT, error.as_ref()))
    })
}

/// Returns the interpreter of a virtual environment with yt-dlp. Creates it if it is missing.
pub(crate) fn prepare_yt_dlp() -> Result<PathBuf> {
    environment(YT_DLP, "import yt_dlp", |pip| {
        pip.install(&[YT_DLP]).map_err(|error| pip_failed(YT_DLP, error.as_ref()))
    })
}

/// Returns the interpreter of a virtual environment with document loaders. Creates it if it is missing.
pub(crate) fn prepare_loaders() -> Result<PathBuf> {
    let probe = "import langchain_community, langchain_firecrawl, llama_index.readers.web";
    environment("loaders", probe, |pip| {
        install_sdk(pip)?;
        pip.install(LOADERS).map_err(|error| pip_failed(&LOADERS.join(" "), error.as_ref()))
    })
}

/// Returns the interpreter of a virtual environment with programs that read PDF files. Creates it if it is missing.
pub(crate) fn prepare_pdf_readers() -> Result<PathBuf> {
    environment("pdf-readers", "import markitdown, pdfplumber, pymupdf4llm", |pip| {
        pip.install(PDF_READERS).map_err(|error| pip_failed(&PDF_READERS.join(" "), error.as_ref()))
    })
}

/// Returns the interpreter of a virtual environment with schemathesis and an OpenAPI validator. Creates it if it is
/// missing.
pub(crate) fn prepare_openapi_tools() -> Result<PathBuf> {
    environment(&OPENAPI_TOOLS.join("+"), "import openapi_spec_validator, schemathesis", |pip| {
        pip.install(OPENAPI_TOOLS).map_err(|error| pip_failed(&OPENAPI_TOOLS.join(" "), error.as_ref()))
    })
}

/// Returns the interpreter of the virtual environment with this name. Creates it if it is missing or `probe`, a line of
/// Python, fails.
fn environment(name: &str, probe: &str, install: fn(&Pip) -> Result) -> Result<PathBuf> {
    let cache = Cache::open()?;
    let folder = format!("python/{name}");
    let environment = cache.dir().join(&folder);
    let python = environment.join("bin/python");
    let marker = environment.join("ready");
    // An upgrade of the system Python breaks existing environments, so the marker alone is not enough.
    if marker.is_file() && run(Command::new(&python).args(["-c", probe])).is_ok() {
        return Ok(python);
    }
    println!("python: installing {name} into {}", environment.display());
    let environment = cache.create_empty_dir(&folder)?;
    let source = create(&cache, &environment)
        .map_err(|error| format!("cannot create a virtual environment (install python3-venv): {error}"))?;
    install(&Pip { python: python.clone(), source })?;
    fs::write(marker, "")?;
    Ok(python)
}

/// The pip of a virtual environment.
struct Pip {
    python: PathBuf,
    source: PipSource,
}

/// Location of pip.
enum PipSource {
    /// Installed in the environment.
    Environment,
    /// A wheel, which Python can run directly.
    Wheel(PathBuf),
}

/// Creates the environment. On Debian, `venv` needs an extra package to install pip, which is often missing. In that
/// case, pip's wheel is extracted from its Debian package.
fn create(cache: &Cache, environment: &Path) -> Result<PipSource> {
    let venv =
        |options: &[&str]| run(Command::new("python3").args(["-m", "venv"]).args(options).arg(environment));
    let Err(error) = venv(&["--clear"]) else { return Ok(PipSource::Environment) };
    venv(&["--clear", "--without-pip"])?;
    let unpacked = cache.create_empty_dir("pip")?;
    debian::unpack(cache, "python3-pip-whl", &unpacked)
        .map_err(|unpack_error| format!("{error}\n{unpack_error}"))?;
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
            PipSource::Environment => command.args(["-m", "pip"]),
            PipSource::Wheel(wheel) => command.arg(wheel.join("pip")),
        };
        run(command.args(["install", "--quiet", "--disable-pip-version-check"]).args(arguments))?;
        Ok(())
    }
}

/// Installs the SDK with its exact requirements. If the package index has no certifi that is new enough for the SDK,
/// prints a message and installs the newest certifi available.
fn install_sdk(pip: &Pip) -> Result {
    let Err(error) = pip.install(&[SDK]) else { return Ok(()) };
    if !error.to_string().contains("certifi") {
        return Err(pip_failed(SDK, error.as_ref()));
    }
    println!("python: the package index has no certifi that is new enough for {SDK}; using an older version");
    pip.install(RELAXED_REQUIREMENTS).map_err(|error| pip_failed(SDK, error.as_ref()))?;
    pip.install(&["--no-deps", SDK]).map_err(|error| pip_failed(SDK, error.as_ref()))
}

fn pip_failed(packages: &str, error: &dyn Error) -> Box<dyn Error> {
    format!("cannot install {packages} from PyPI: {}", last_line(&error.to_string())).into()
}

/// Returns the last line of pip's output, which has the error. The lines before it list retries or all known versions.
fn last_line(text: &str) -> &str {
    text.trim_end().lines().next_back().unwrap_or_default()
}
