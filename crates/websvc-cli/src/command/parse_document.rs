//! `websvc parse-document`: the worker process that parses one untrusted document.

use std::process::ExitCode;

use websvc_scrape::{WorkerLimits, run_tool, run_worker};

use crate::args::ParseDocument;

/// Memory limit of a tool. Rendering a page and OCR need more than parsing a file.
const TOOL_MEMORY_BYTES: u64 = 1536 * 1024 * 1024;

/// Runs `websvc parse-document`.
pub(crate) fn run(arguments: &ParseDocument) -> ExitCode {
    let limits = WorkerLimits::default();
    match &arguments.tool {
        Some(program) => {
            let limits = WorkerLimits { memory_bytes: TOOL_MEMORY_BYTES, ..limits };
            run_tool(&limits, program, &arguments.arguments)
        }
        None => run_worker(&limits),
    }
}
