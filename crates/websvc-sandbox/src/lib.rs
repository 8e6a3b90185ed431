//! Runs the program of a client against a browser page.
//!
//! A program is JavaScript with the Playwright API, or lines of `agent-browser` commands. It runs in an embedded engine
//! (QuickJS) inside a worker process without files, network and environment. All it can do is send messages of the
//! DevTools protocol over its pipes. [`run`] starts the worker, passes the messages on, and kills it at the deadline.
//!
//! The Playwright API is a library in `src/library`, which the worker loads before the program. The files in
//! `src/library/page` run in the pages.

mod channel;
mod frame;
mod methods;
mod output;
mod process;
mod program;
mod run;
mod worker;

pub use channel::{BoxFuture, CdpChannel, ChannelClosed};
pub use methods::METHODS;
pub use program::{
    Language, MAX_OUTPUT_BYTES, Outcome, PROCESSOR_SECONDS, PageTarget, Program, TIMEOUT_EXIT_CODE,
    WorkerConfig,
};
pub use run::run;
pub use worker::run_worker;
