//! A PostgreSQL server for the tests, in a temporary directory and on a port of its own.
//!
//! The programs are those of the system. As root, the server runs as the user `postgres`, because PostgreSQL refuses to
//! run as root.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Result;
use crate::debian::run;

/// Environment variable with the URL of a server, on which the tests of the store run instead of SQLite.
pub(crate) const STORE_VARIABLE: &str = "WEBSVC_TEST_POSTGRES";

/// Environment variable with the URL of a server for the tests of replicas, which have no other database.
pub(crate) const REPLICAS_VARIABLE: &str = "WEBSVC_TEST_REPLICAS";

const WITHOUT_FLUSH: &str = "-c fsync=off -c full_page_writes=off";

const SETTINGS: &str = "-c max_connections=300 -c listen_addresses=127.0.0.1";

/// The running server. Dropping this stops it.
#[derive(Debug)]
pub(crate) struct PostgresServer {
    programs: PathBuf,
    /// A temporary directory, because the user of the server may not be able to read that of the project.
    dir: PathBuf,
    port: u16,
}

impl PostgresServer {
    /// Starts a server that does not flush to disk.
    pub(crate) fn start() -> Result<Self> {
        Self::start_with("postgres", WITHOUT_FLUSH)
    }

    /// Starts a server that flushes to disk.
    pub(crate) fn start_durable() -> Result<Self> {
        Self::start_with("postgres-durable", "")
    }

    fn start_with(name: &str, settings: &str) -> Result<Self> {
        let programs = programs()?;
        let dir = create_dir(name)?;
        let server = Self { programs, dir, port: free_port()? };
        let data = server.data().display().to_string();
        run(&mut server.command("initdb", &["-D", &data, "-U", "postgres", "-A", "trust", "--no-sync"])?)?;
        server.run(settings)?;
        Ok(server)
    }

    /// Starts the process of the server.
    fn run(&self, settings: &str) -> Result {
        let data = self.data().display().to_string();
        let (options, log) = (self.options(settings), self.log());
        run(&mut self.command("pg_ctl", &["-D", &data, "-o", &options, "-l", &log, "-w", "start"])?)?;
        Ok(())
    }

    fn options(&self, settings: &str) -> String {
        format!("{SETTINGS} {settings} -p {} -k {}", self.port, self.dir.display())
    }

    fn log(&self) -> String {
        self.dir.join("log").display().to_string()
    }

    /// Returns the URL of its database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Returns its directory, which its user may write.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// Returns a command of the user that runs the server.
    fn command(&self, program: &str, arguments: &[&str]) -> Result<Command> {
        self.command_of(&self.programs.join(program), arguments)
    }

    /// Returns a command of the user that runs the server. The program is that of a path.
    pub(crate) fn command_of(&self, program: &Path, arguments: &[&str]) -> Result<Command> {
        let mut command = command_without_descriptors();
        if is_root()? {
            command.args(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        }
        command.arg(program);
        command.args(arguments).current_dir(&self.dir);
        Ok(command)
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let data = self.data().display().to_string();
        // A test of a failover has stopped it already.
        if self.data().join("postmaster.pid").exists() {
            let stopped = self
                .command("pg_ctl", &["-D", &data, "-m", "immediate", "-w", "stop"])
                .and_then(|mut command| run(&mut command));
            if let Err(error) = stopped {
                println!("warning: the PostgreSQL server in {data} was not stopped: {error}");
            }
        }
        if let Err(error) = fs::remove_dir_all(&self.dir) {
            println!("warning: {} was not removed: {error}", self.dir.display());
        }
    }
}

/// Returns a command that runs the program and arguments which are added to it, without the descriptors 3 to 9 that this
/// process inherited. A server that outlives its caller would otherwise keep a lock that the caller holds, such as
/// `exec 9>lock` and `flock 9` of a shell.
fn command_without_descriptors() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$@\" 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-", "sh"]);
    command
}

/// A standby that replicates a server. Dropping this stops it.
#[derive(Debug)]
pub(crate) struct Standby(PostgresServer);

impl Standby {
    /// Copies a server, and starts the copy as its standby.
    pub(crate) fn start(primary: &PostgresServer) -> Result<Self> {
        let dir = create_dir("postgres-standby")?;
        let server = PostgresServer { programs: primary.programs.clone(), dir, port: free_port()? };
        let (data, port) = (server.data().display().to_string(), primary.port.to_string());
        let copy = ["-D", &data, "-h", "127.0.0.1", "-p", &port, "-U", "postgres", "-R", "-c", "fast"];
        run(&mut server.command("pg_basebackup", &copy)?)?;
        server.run("-c fsync=off")?;
        Ok(Self(server))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// Returns the URL of the primary and the standby.
    pub(crate) fn url_of_both(&self, primary: &PostgresServer) -> String {
        format!("postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres", primary.port, self.0.port)
    }

    /// Returns a shell script that waits until the standby has everything, stops the primary as a crash does, and
    /// promotes the standby. With the argument `return`, it starts the old primary again, as a machine that restarts does.
    pub(crate) fn failover_script(&self, primary: &PostgresServer) -> String {
        let programs = primary.programs.display();
        let user = if is_root().unwrap_or_default() {
            "setpriv --reuid=postgres --regid=postgres --clear-groups "
        } else {
            ""
        };
        let caught_up = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn()";
        format!(
            "#!/bin/sh\nset -e\ncd {dir}\n\
             if [ \"$1\" = return ]; then\n\
             exec {user}{programs}/pg_ctl -D {primary} -o \"{options}\" -l {log} -w start\nfi\n\
             until [ \"$({programs}/psql -h 127.0.0.1 -p {port} -U postgres -Atc '{caught_up}')\" = 1 ]; do sleep 0.1; done\n\
             {user}{programs}/pg_ctl -D {primary} -m immediate -w stop\n\
             {user}{programs}/pg_ctl -D {standby} -w promote\n",
            dir = self.0.dir.display(),
            options = primary.options(WITHOUT_FLUSH),
            log = primary.log(),
            port = primary.port,
            primary = primary.data().display(),
            standby = self.0.data().display(),
        )
    }
}

/// Creates a directory for the data of a server, which its user may write.
fn create_dir(name: &str) -> Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(1);

    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("websvc-{name}-{}-{number}", std::process::id()));
    fs::create_dir(&dir)?;
    if is_root()? {
        run(Command::new("chown").arg("postgres").arg(&dir))?;
    }
    Ok(dir)
}

pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_gets_no_descriptors_of_the_caller() {
        let program = command_without_descriptors();
        // A shell that has the descriptors 3 and 9 runs the command.
        let run = |arguments: &[&str]| {
            let mut shell = Command::new("sh");
            shell.args(["-c", "exec 3</dev/null 9</dev/null; exec \"$@\"", "sh"]).args(arguments);
            let output = shell
                .args(["sh", "-c", "for n in 0 3 9; do [ -e /proc/self/fd/$n ] && echo $n; done; true"])
                .output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        assert_eq!(run(&[]), "0\n3\n9\n");
        let arguments: Vec<_> = program.get_args().map(|argument| argument.to_str().unwrap()).collect();
        assert_eq!(run(&[&["sh"], arguments.as_slice()].concat()), "0\n");
    }
}
