//! `websvc parse`: files of this machine as Markdown and other formats, from the shell.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use websvc::types::limits::UPLOAD_MAX_BYTES;
use websvc_engine::{Engine, page_content};
use websvc_scrape::{FileUpload, Page};
use websvc_validate::{FilePlan, Policy, read_parse_options};

use super::scrape::print;
use super::search::print_api_error;
use crate::CommandContext;
use crate::app::{self, IndexMode};
use crate::args::Parse;
use crate::output;
use crate::page_output::front_matter;
use crate::progress::Progress;

/// Runs `websvc parse`. A file that cannot be read is named, and the others are read all the same.
pub(crate) async fn parse(setting: CommandContext, arguments: Parse) -> Result<()> {
    let Parse { files, formats, full_page, output, jsonl } = arguments;
    let formats = if formats.is_empty() { vec!["markdown".to_owned()] } else { formats };
    let options = json!({ "formats": formats, "onlyMainContent": !full_page });
    let plan =
        read_parse_options(options.to_string().as_bytes(), &Policy::default()).map_err(print_api_error)?.plan;
    if let Some(directory) = &output {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    }
    // Nothing comes to the index, so it may be read beside a server.
    let app = app::open(&setting.config, &setting.data_dir, IndexMode::Read)?;
    let mut progress = Progress::start("parse");
    progress.expect(files.len() as u64);
    let (mut taken, mut failed) = (HashSet::new(), 0_usize);
    for file in &files {
        let done = match read(&app.engine, file, &plan).await {
            Ok(page) => hand_over(page, file, output.as_deref(), jsonl, &mut taken),
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => progress.page(),
            Err(error) => {
                failed += 1;
                progress.failed(&file.display().to_string(), &output::causes(error.as_ref()));
            }
        }
    }
    progress.finish();
    app.close().await?;
    ensure!(failed == 0, "{failed} of {} files could not be read", files.len());
    Ok(())
}

async fn read(engine: &Engine, file: &Path, plan: &FilePlan) -> Result<Page> {
    let bytes = std::fs::metadata(file)?.len();
    ensure!(bytes <= UPLOAD_MAX_BYTES, "it is larger than {UPLOAD_MAX_BYTES} bytes");
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let upload = FileUpload { name, media_type: None, bytes: std::fs::read(file)?.into() };
    let scrape = plan.scrape();
    let deadline = Instant::now() + scrape.timeout().max(Duration::from_secs(1));
    let mut page = engine.parse(upload, scrape, deadline).await.page?;
    for warning in std::mem::take(&mut page.warnings) {
        output::note(&format!("warning: {}: {warning}", file.display()));
    }
    Ok(page)
}

fn hand_over(
    page: Page,
    file: &Path,
    output: Option<&Path>,
    jsonl: bool,
    taken: &mut HashSet<PathBuf>,
) -> Result<()> {
    match output {
        Some(directory) => {
            let path = free_path(directory, file, taken);
            std::fs::write(&path, with_front_matter(page, file))
                .with_context(|| format!("cannot write {}", path.display()))
        }
        None if jsonl => {
            let mut line = serde_json::to_value(page_content(page))?;
            line["file"] = json!(file.to_string_lossy());
            output::line(&line.to_string())
        }
        None => print(page, false),
    }
}

/// Returns where a file is written: files of one name in several directories do not overwrite each other.
fn free_path(directory: &Path, file: &Path, taken: &mut HashSet<PathBuf>) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let candidates = std::iter::once(format!("{name}.md")).chain((2..).map(|at| format!("{name}-{at}.md")));
    let mut paths = candidates.map(|name| directory.join(name));
    let path = paths.find(|path| !taken.contains(path)).unwrap_or_default();
    taken.insert(path.clone());
    path
}

/// Returns the Markdown of a file behind what is known of it, as YAML.
fn with_front_matter(page: Page, file: &Path) -> String {
    let Page { markdown, metadata, .. } = page;
    let text = |text: Option<String>| text.map(Value::from);
    let matter = front_matter(&[
        ("title", text(metadata.title)),
        ("description", text(metadata.description)),
        ("language", text(metadata.language)),
        ("source", Some(Value::from(file.to_string_lossy()))),
        ("pages", metadata.num_pages.map(Value::from)),
    ]);
    format!("{matter}\n{}\n", markdown.unwrap_or_default().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_have_paths_of_their_own() {
        let mut taken = HashSet::new();
        let paths = ["a/tea.pdf", "b/tea.pdf", "tea.html"]
            .map(|file| free_path(Path::new("out"), Path::new(file), &mut taken));
        assert_eq!(paths, ["out/tea.pdf.md", "out/tea.pdf-2.md", "out/tea.html.md"].map(PathBuf::from));
    }

    #[test]
    fn front_matter_is_quoted() {
        let mut page = Page { markdown: Some("# Tea\n".to_owned()), ..Page::default() };
        page.metadata.title = Some("Tea: \"green\"\n---".to_owned());
        let text = with_front_matter(page, Path::new("tea.pdf"));
        assert_eq!(text, "---\ntitle: \"Tea: \\\"green\\\"\\n---\"\nsource: \"tea.pdf\"\n---\n\n# Tea\n");
    }
}
