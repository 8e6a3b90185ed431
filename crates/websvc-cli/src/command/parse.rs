//! `websvc parse`: converts local files to Markdown and other formats.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use websvc::types::limits::UPLOAD_MAX_BYTES;
use websvc_engine::{Engine, page_content};
use websvc_scrape::{FileUpload, Page};
use websvc_types::{ParseOptions, counted};
use websvc_validate::{FilePlan, Policy, read_request};

use super::scrape::print;
use super::search::rejection_error;
use crate::CommandContext;
use crate::app::{self, IndexMode};
use crate::args::Parse;
use crate::output;
use crate::page_output::front_matter;
use crate::progress::Progress;

/// Runs `websvc parse`. A file that cannot be parsed is reported, and the others are still parsed.
pub(crate) async fn run(context: CommandContext, arguments: Parse) -> Result<()> {
    let Parse { files, formats, full_page, output, jsonl } = arguments;
    let formats = if formats.is_empty() { vec!["markdown".to_owned()] } else { formats };
    let options = json!({ "formats": formats, "onlyMainContent": !full_page });
    let plan = read_request::<ParseOptions>(options.to_string().as_bytes(), &Policy::default())
        .map_err(rejection_error)?
        .plan;
    if let Some(directory) = &output {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create the directory {}", directory.display()))?;
    }
    // Nothing is written to the index, so a server may run at the same time.
    let app = app::open(&context.config, &context.data_dir, IndexMode::Read)?;
    let mut progress = Progress::start("parse");
    progress.set_total(files.len() as u64);
    let (mut used_paths, mut failed) = (HashSet::new(), 0_usize);
    for file in &files {
        let written = match parse_file(&app.engine, file, &plan).await {
            Ok(page) => write(page, file, output.as_deref(), jsonl, &mut used_paths),
            Err(error) => Err(error),
        };
        match written {
            Ok(()) => progress.page(),
            Err(error) => {
                failed += 1;
                progress.failed(&file.display().to_string(), &output::causes(error.as_ref()));
            }
        }
    }
    progress.finish();
    app.close().await?;
    ensure!(failed == 0, "{failed} of {} could not be parsed", counted(files.len(), "file", "files"));
    Ok(())
}

async fn parse_file(engine: &Engine, file: &Path, plan: &FilePlan) -> Result<Page> {
    let bytes = std::fs::metadata(file)?.len();
    ensure!(bytes <= UPLOAD_MAX_BYTES, "larger than the maximum of {UPLOAD_MAX_BYTES} bytes");
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let upload = FileUpload { name, media_type: None, bytes: std::fs::read(file)?.into() };
    let scrape = &plan.scrape;
    let deadline = Instant::now() + scrape.timeout.max(Duration::from_secs(1));
    let mut page = engine.parse(upload, scrape, deadline).await.page?;
    for warning in std::mem::take(&mut page.warnings) {
        output::warn(&format!("{}: {warning}", file.display()));
    }
    Ok(page)
}

fn write(
    page: Page,
    file: &Path,
    output: Option<&Path>,
    jsonl: bool,
    used_paths: &mut HashSet<PathBuf>,
) -> Result<()> {
    match output {
        Some(directory) => {
            let path = unused_path(directory, file, used_paths);
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

/// Returns an unused output path for a file. Files of the same name in different directories get different paths.
fn unused_path(directory: &Path, file: &Path, used_paths: &mut HashSet<PathBuf>) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let candidates =
        std::iter::once(format!("{name}.md")).chain((2..).map(|number| format!("{name}-{number}.md")));
    let mut paths = candidates.map(|name| directory.join(name));
    let path = paths.find(|path| !used_paths.contains(path)).unwrap_or_default();
    used_paths.insert(path.clone());
    path
}

/// Returns the Markdown of a file with its metadata as front matter.
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
    fn files_of_the_same_name_get_different_paths() {
        let mut used_paths = HashSet::new();
        let paths = ["a/tea.pdf", "b/tea.pdf", "tea.html"]
            .map(|file| unused_path(Path::new("out"), Path::new(file), &mut used_paths));
        assert_eq!(paths, ["out/tea.pdf.md", "out/tea.pdf-2.md", "out/tea.html.md"].map(PathBuf::from));
    }

    #[test]
    fn front_matter_quotes_values() {
        let mut page = Page { markdown: Some("# Tea\n".to_owned()), ..Page::default() };
        page.metadata.title = Some("Tea: \"green\"\n---".to_owned());
        let text = with_front_matter(page, Path::new("tea.pdf"));
        assert_eq!(text, "---\ntitle: \"Tea: \\\"green\\\"\\n---\"\nsource: \"tea.pdf\"\n---\n\n# Tea\n");
    }
}
