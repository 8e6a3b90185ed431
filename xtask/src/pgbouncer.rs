//! A PgBouncer in front of a PostgreSQL server, which gives each transaction another session of the server.

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::Result;
use crate::postgres::PostgresServer;

/// Environment variable with the address of the pooler, through which the tests of the store connect to the server.
pub(crate) const VARIABLE: &str = "WEBSVC_TEST_PGBOUNCER";

const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The running pooler. Dropping this stops it.
#[derive(Debug)]
pub(crate) struct PgBouncer {
    process: Child,
    port: u16,
}

impl PgBouncer {
    /// Starts a pooler with fewer sessions of the server than the tests have connections. Its files are in the directory of
    /// the server.
    pub(crate) fn start(server: &PostgresServer) -> Result<Self> {
        let program = program()?;
        let port = crate::postgres::free_port()?;
        let file = |name: &str| server.dir().join(name);
        let (settings, users) = (file("pgbouncer.ini"), file("pgbouncer-users"));
        fs::write(&users, "\"postgres\" \"\"\n")?;
        fs::write(
            &settings,
            format!(
                "[databases]\n* = host=127.0.0.1 port={} auth_user=postgres\n[pgbouncer]\n\
                 listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\n\
                 auth_file = {}\nauth_user = postgres\npool_mode = transaction\ndefault_pool_size = 4\n\
                 server_idle_timeout = 2\nmax_client_conn = 2000\n",
                server.port(),
                users.display()
            ),
        )?;
        let mut command = server.command_of(&program, &[&settings.display().to_string()])?;
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut pooler = Self { process, port };
        pooler.wait()?;
        Ok(pooler)
    }

    /// Returns its address: host and port.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn wait(&mut self) -> Result {
        let deadline = Instant::now() + START_TIMEOUT;
        while TcpStream::connect(self.address()).is_err() {
            if let Some(status) = self.process.try_wait()? {
                return Err(format!("pgbouncer ended at its start: {status}").into());
            }
            if Instant::now() >= deadline {
                return Err(format!("pgbouncer did not listen on {} within 30 s", self.address()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // Both fail only if it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = directories.map(|directory| directory.join("pgbouncer")).find(|program| program.exists());
    found.ok_or_else(|| "install the Debian package pgbouncer, or add pgbouncer to PATH".into())
}
