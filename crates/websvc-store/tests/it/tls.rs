//! Tests of TLS to a PostgreSQL server, with a server of their own that accepts no connection without it.
//!
//! They run where the other tests of a server run, if its programs are on this machine.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use tempfile::TempDir;
use websvc_store::{DatabaseUrl, Store, StoreError};
use websvc_testkit::{Authority, skip};
use websvc_transport::{AddressGuard, Client, ClientConfig};

use crate::engine::is_server;

/// The name in the certificate of the server.
const NAME: &str = "db.test";

/// A PostgreSQL server with a certificate for [`NAME`]. Dropping this stops it.
struct TlsServer {
    programs: PathBuf,
    dir: TempDir,
    port: u16,
}

impl TlsServer {
    /// Starts the server; returns `None` if the tests do not run on a server, or its programs are not found.
    fn start(authority: &Authority) -> Option<Self> {
        if !is_server() {
            return None;
        }
        let Some(programs) = programs() else {
            skip("initdb is neither in /usr/lib/postgresql nor in PATH (Debian package postgresql)");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        let server = Self { programs, dir, port: free_port() };
        let path = server.dir.path();
        // The user of the server must be able to pass.
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        authority.issue_into(path, &[NAME.to_owned()]);
        fs::set_permissions(path.join("key.pem"), fs::Permissions::from_mode(0o600)).unwrap();
        if is_root() {
            run(Command::new("chown").arg("-R").arg("postgres").arg(path));
        }
        let data = path.join("data").display().to_string();
        run(&mut server.command("initdb", &["-D", &data, "-U", "postgres", "-A", "trust", "--no-sync"]));
        let rules = "hostssl all all 127.0.0.1/32 trust\n";
        fs::write(path.join("data/pg_hba.conf"), rules).unwrap();
        let settings = format!(
            "-p {} -k {dir} -c listen_addresses=127.0.0.1 -c fsync=off -c ssl=on \
             -c ssl_cert_file={dir}/cert.pem -c ssl_key_file={dir}/key.pem",
            server.port,
            dir = path.display()
        );
        let log = path.join("data/log").display().to_string();
        // The next command waits for the server; this one could not connect without TLS.
        run(&mut server.command("pg_ctl", &["-D", &data, "-o", &settings, "-l", &log, "-W", "start"]));
        crate::server::eventually(|| {
            fs::read_to_string(&log).ok()?.contains("ready to accept").then_some(())
        });
        Some(server)
    }

    /// Opens the store by a name of the server, with the certificate of an authority.
    fn open(&self, host: &str, parameters: &str, authority: &Authority) -> Result<Store, StoreError> {
        open(host, self.port, parameters, authority)
    }

    /// Returns a command of the user that runs the server.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let program = self.programs.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments).current_dir(self.dir.path());
        command
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let data = self.dir.path().join("data").display().to_string();
        if Path::new(&data).join("postmaster.pid").exists() {
            let mut stop = self.command("pg_ctl", &["-D", &data, "-m", "immediate", "-w", "stop"]);
            // A failed test may unwind here.
            let _ = stop.stdout(Stdio::null()).status();
        }
    }
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let of_debian = versions.map(|entry| entry.path().join("bin"));
    let in_path: Vec<PathBuf> =
        std::env::var_os("PATH").iter().flat_map(|path| std::env::split_paths(path)).collect();
    in_path.into_iter().chain(of_debian).filter(|dir| dir.join("initdb").exists()).last()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Opens a store on a server of this machine under the name `host`.
fn open(host: &str, port: u16, parameters: &str, authority: &Authority) -> Result<Store, StoreError> {
    let dir = tempfile::tempdir().unwrap();
    let ca_file = dir.path().join("ca.pem");
    fs::write(&ca_file, authority.pem()).unwrap();
    let guard = AddressGuard::public().connect_to(&format!("{host}:{port}"), &format!("127.0.0.1:{port}"));
    let config = ClientConfig { ca_file: Some(ca_file), ..ClientConfig::new(guard.unwrap()) };
    let url = DatabaseUrl::parse(&format!("postgres://postgres@{host}:{port}/postgres{parameters}")).unwrap();
    Store::connect(&url, Client::new(config).unwrap(), dir.path())
}

/// Returns the message of an error and those of its sources.
fn messages(error: &dyn std::error::Error) -> String {
    let mut messages = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        write!(messages, ": {error}").unwrap();
        source = error.source();
    }
    messages
}

/// Checks that a store cannot be opened because of `expected`.
#[track_caller]
fn check_rejected(opened: Result<Store, StoreError>, expected: &str) {
    let error = opened.unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    let messages = messages(&error);
    assert!(messages.contains(expected), "{messages}");
}

#[test]
fn store_uses_a_server_that_requires_tls() {
    let authority = Authority::new();
    let Some(server) = TlsServer::start(&authority) else { return };
    for parameters in ["", "?sslmode=require", "?sslmode=verify-ca", "?sslmode=verify-full"] {
        let store = server.open(NAME, parameters, &authority).unwrap();
        let team = format!("tea{}", parameters.len());
        let key = store.create_key(&team, "").unwrap();
        assert!(store.authenticate(key.secret.expose()).unwrap().is_some(), "{parameters}");
    }
    let error = server.open(NAME, "?sslmode=disable", &authority).unwrap_err();
    assert!(messages(&error).contains("no encryption"), "the server accepts only TLS: {}", messages(&error));
}

#[test]
fn certificate_of_another_authority_or_host_is_rejected() {
    let authority = Authority::new();
    let Some(server) = TlsServer::start(&authority) else { return };
    for parameters in ["", "?sslmode=require", "?sslmode=verify-ca", "?sslmode=verify-full"] {
        check_rejected(
            server.open(NAME, parameters, &Authority::new()),
            "no secure connection to db.test: the certificate is not valid",
        );
        check_rejected(
            server.open("other.test", parameters, &authority),
            "not valid for name \"other.test\"",
        );
    }
}

#[test]
fn server_that_declines_tls_is_rejected() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let mut request = [0; 8];
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut request).unwrap();
        stream.write_all(b"N").unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        (request, rest)
    });
    check_rejected(open(NAME, port, "?sslmode=require", &Authority::new()), "does not support TLS");
    let (request, rest) = server.join().unwrap();
    // The code of an SSLRequest (PostgreSQL documentation, "Message Formats").
    assert_eq!(request, [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
    assert_eq!(rest, b"", "no user name is sent without TLS");
}
