//! A PostgreSQL server for the tests, in a temporary directory and on a port of its own.
//!
//! The programs are those of the system. As root, the server runs as the user `postgres`, because PostgreSQL refuses to
//! run as root.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::debian::run;

/// Environment variable with the URL of a server, on which the tests of the store run instead of SQLite.
pub(crate) const STORE_VARIABLE: &str = "WEBSVC_TEST_POSTGRES";

/// Environment variable with the URL of a server for the tests of replicas, which have no other database.
pub(crate) const REPLICAS_VARIABLE: &str = "WEBSVC_TEST_REPLICAS";

/// Settings of a server whose data need not survive a crash.
const SETTINGS: &str =
    "-c fsync=off -c full_page_writes=off -c max_connections=300 -c listen_addresses=127.0.0.1";

/// The running server. Dropping this stops it.
#[derive(Debug)]
pub(crate) struct PostgresServer {
    programs: PathBuf,
    /// A temporary directory, because the user of the server may not be able to read that of the project.
    dir: PathBuf,
    port: u16,
}

impl PostgresServer {
    /// Starts a server.
    pub(crate) fn start() -> Result<Self> {
        let programs = programs()?;
        let dir = std::env::temp_dir().join(format!("websvc-postgres-{}", std::process::id()));
        fs::create_dir(&dir)?;
        if is_root()? {
            run(Command::new("chown").arg("postgres").arg(&dir))?;
        }
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = Self { programs, dir, port };
        let data = server.data().display().to_string();
        run(&mut server.command("initdb", &["-D", &data, "-U", "postgres", "-A", "trust", "--no-sync"])?)?;
        let options = format!("{SETTINGS} -p {port} -k {}", server.dir.display());
        let log = server.dir.join("log").display().to_string();
        run(&mut server.command("pg_ctl", &["-D", &data, "-o", &options, "-l", &log, "-w", "start"])?)?;
        Ok(server)
    }

    /// Returns the URL of its database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Returns a command of the user that runs the server.
    fn command(&self, program: &str, arguments: &[&str]) -> Result<Command> {
        let program = self.programs.join(program);
        let mut command = if is_root()? {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments).current_dir(&self.dir);
        Ok(command)
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let data = self.data().display().to_string();
        let stopped = self
            .command("pg_ctl", &["-D", &data, "-m", "immediate", "-w", "stop"])
            .and_then(|mut command| run(&mut command));
        if let Err(error) = stopped {
            println!("warning: the PostgreSQL server in {data} was not stopped: {error}");
        }
        if let Err(error) = fs::remove_dir_all(&self.dir) {
            println!("warning: {} was not removed: {error}", self.dir.display());
        }
    }
}

/// Returns the directory with the programs of the newest version.
fn programs() -> Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").map(|entries| {
        let directories = entries.flatten().map(|entry| entry.path().join("bin"));
        directories.filter(|directory| directory.join("initdb").exists()).max()
    });
    if let Ok(Some(directory)) = versions {
        return Ok(directory);
    }
    let in_path = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).find(|directory| directory.join("initdb").exists()));
    in_path.ok_or_else(|| "install the Debian package postgresql, or add initdb to PATH".into())
}

fn is_root() -> Result<bool> {
    use std::os::unix::fs::MetadataExt;

    Ok(fs::metadata(Path::new("/proc/self"))?.uid() == 0)
}
