//! `websvc parse-document`: the worker process that reads one hostile document; started by the service.

use std::process::ExitCode;

use websvc_scrape::{WorkerLimits, run_tool, run_worker};

use crate::args::ParseDocument;

/// Drawing a page and recognising its characters take more than reading a file.
const TOOL_MEMORY: u64 = 1536 * 1024 * 1024;

/// Runs `websvc parse-document`.
pub(crate) fn parse_document(arguments: &ParseDocument) -> ExitCode {
    let limits = WorkerLimits::default();
    match &arguments.tool {
        Some(program) => {
            let limits = WorkerLimits { memory_bytes: TOOL_MEMORY, ..limits };
            run_tool(&limits, program, &arguments.arguments)
        }
        None => run_worker(&limits),
    }
}
