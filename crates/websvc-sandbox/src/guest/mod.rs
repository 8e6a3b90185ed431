//! The guest: the process of this program inside a sandbox of bubblewrap. It restricts itself, starts the interpreter and
//! speaks with the service.
//!
//! A hostile program may take over the guest. It gains nothing: both have the same rights, and the service trusts neither.

mod agent_browser;
mod downloads;
mod filter;
mod interpreter;
mod limits;
mod outputs;
mod relay;
mod tool;

use std::io::{self, Write};
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use nix::errno::Errno;
use tokio::net::TcpListener;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;

use self::interpreter::{DEVTOOLS_PORT, Interpreter};
use self::outputs::Outputs;
use self::relay::Relay;
use crate::frame::{Kind, MAX_TO_WORKER, Start};
use crate::guest_settings::{GuestSettings, MAX_MEMORY_FILES_BYTES, Settings};
use crate::process::read_frame;

pub use agent_browser::agent_browser;

/// The descriptor of standard error.
const LAST_STANDARD_STREAM: RawFd = 2;
/// Frames that wait in each direction.
const QUEUE: usize = 4;

/// Reads one program from standard input, runs it with an interpreter, and writes its messages and outcome to standard
/// output. This is the main function of a process in a sandbox of bubblewrap; `settings` is its last argument.
#[must_use]
pub fn run_guest(settings: &str) -> ExitCode {
    match enter(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The service reads it.
            let _ = writeln!(io::stderr(), "the guest of the sandbox failed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Restricts this process and runs the program. As root, it starts again as another user first.
fn enter(settings: &str) -> io::Result<()> {
    let settings: GuestSettings = serde_json::from_str(settings)?;
    let (user, max_file_bytes) = match &settings {
        GuestSettings::Interpreter(settings) => (settings.user, MAX_MEMORY_FILES_BYTES),
        // Its private files are small.
        GuestSettings::Tool(settings) => (settings.user, settings.max_file_bytes.max(MAX_MEMORY_FILES_BYTES)),
    };
    if let Some(user) = user
        && rustix::process::geteuid().is_root()
    {
        let arguments = std::env::args_os().skip(1);
        return Err(Command::new("/proc/self/exe").args(arguments).uid(user).gid(user).exec());
    }
    close_inherited_files()?;
    limits::apply(max_file_bytes)?;
    filter::restrict()?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        match &settings {
            GuestSettings::Interpreter(settings) => run(settings).await,
            GuestSettings::Tool(settings) => tool::run(settings).await,
        }
    })
}

/// Closes all files but the standard streams.
///
/// The service may have been started with open files of which it does not know, and bubblewrap passes them on. A directory
/// among them leads a program to all files of the machine.
fn close_inherited_files() -> io::Result<()> {
    // Collected first, so that the descriptor of the list is closed before others are.
    let names = std::fs::read_dir("/proc/self/fd")?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<Vec<_>>>()?;
    for descriptor in names.iter().filter_map(|name| name.to_str()?.parse::<RawFd>().ok()) {
        if descriptor <= LAST_STANDARD_STREAM {
            continue;
        }
        match nix::unistd::close(descriptor) {
            Ok(()) | Err(Errno::EBADF) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn run(settings: &Settings) -> io::Result<()> {
    let mut input = pipe::Receiver::from_owned_fd(rustix::io::dup(io::stdin())?)?;
    let outputs = Outputs::open()?;
    let frame = read_frame(&mut input, MAX_TO_WORKER).await?;
    let start: Start = serde_json::from_str(&frame.content)?;
    let listener = TcpListener::bind(("127.0.0.1", DEVTOOLS_PORT)).await?;
    let (to_relay, from_browser) = mpsc::channel(QUEUE);
    tokio::spawn(read_messages(input, to_relay));
    let relay = Relay::new(outputs.sender(), from_browser);
    tokio::spawn(relay.serve(listener, start.session_id.clone()));
    let interpreter = Interpreter::start(settings, &start)?;
    let finish = interpreter.finish(&outputs).await?;
    outputs.finish(&finish).await
}

/// Passes the messages of the browser to the relay until the session ends.
async fn read_messages(mut input: pipe::Receiver, relay: mpsc::Sender<String>) {
    while let Ok(frame) = read_frame(&mut input, MAX_TO_WORKER).await {
        match frame.kind {
            Kind::Message => {
                if relay.send(frame.content).await.is_err() {
                    break;
                }
            }
            Kind::Closed => break,
            Kind::Start | Kind::Stdout | Kind::Stderr | Kind::Finish => {}
        }
    }
    drop(relay);
    // The service has ended when its pipe does. bubblewrap ends with it, too; this is a second way.
    while read_frame(&mut input, MAX_TO_WORKER).await.is_ok() {}
    std::process::exit(1);
}
