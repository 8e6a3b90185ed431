//! Installs the programs that download media, for tests: yt-dlp from PyPI, and the Debian package of ffmpeg.

use std::path::{Path, PathBuf};

use crate::{Result, chromium, python};

/// Environment variable with the path of yt-dlp.
pub(crate) const YT_DLP_VARIABLE: &str = "WEBSVC_TEST_YT_DLP";

/// Environment variable with the path of ffmpeg.
pub(crate) const FFMPEG_VARIABLE: &str = "WEBSVC_TEST_FFMPEG";

const PACKAGE: &str = "ffmpeg";
const INSTALLED: &str = "/usr/bin/ffmpeg";

/// Returns the path of yt-dlp in a virtual environment. Creates it if it is missing.
pub(crate) fn prepare_yt_dlp() -> Result<PathBuf> {
    Ok(python::prepare_yt_dlp()?.with_file_name("yt-dlp"))
}

/// Returns the path of ffmpeg. Installs it if it is missing, because its many libraries have to be found by the linker.
pub(crate) fn prepare_ffmpeg() -> Result<PathBuf> {
    let program = Path::new(INSTALLED);
    if !program.is_file() {
        println!("{PACKAGE}: installing the Debian package");
        chromium::install(PACKAGE)?;
    }
    if program.is_file() { Ok(program.to_owned()) } else { Err(format!("{INSTALLED} is missing").into()) }
}
