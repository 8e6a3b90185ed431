//! The owner of the socket at the other end of a loopback connection.

#[cfg(target_os = "linux")]
mod diagnosis;
mod tcp_state;

use std::net::SocketAddr;

use tcp_state::ESTABLISHED;

/// Tells whether the connection from `peer` to `own` was opened, and is held, by a process of the same user as this
/// one.
///
/// Treats every local process as the same user on systems that do not report the owners of connections.
pub(super) async fn is_ours(peer: SocketAddr, own: SocketAddr) -> bool {
    let user = rustix::process::geteuid().as_raw();
    #[cfg(target_os = "linux")]
    if let Some(owner) = diagnosis::owner(peer, own) {
        return owner == user;
    }
    // The system does not answer (a sandbox, a kernel without the module), or knows of no such connection.
    match tokio::fs::read_to_string("/proc/net/tcp").await {
        Ok(table) => owner_in(&table, peer, own) == Some(user),
        Err(_) => !cfg!(target_os = "linux"),
    }
}

/// Finds the user of the established connection with these ends in the table, as Linux writes it.
fn owner_in(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let (local, remote) = (written(local)?, written(remote)?);
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_it = fields.next()? == local
            && fields.next()? == remote
            && u8::from_str_radix(fields.next()?, 16) == Ok(ESTABLISHED);
        // Behind queues, timer and retransmissions.
        if is_it { fields.nth(3)?.parse().ok() } else { None }
    })
}

fn written(addr: SocketAddr) -> Option<String> {
    let SocketAddr::V4(addr) = addr else { return None };
    Some(format!("{:08X}:{:04X}", u32::from_ne_bytes(addr.ip().octets()), addr.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn the_owner_of_an_established_connection_is_found() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     5        0 1 1 x\n   \
             1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 x\n   \
             2: 0100007F:C351 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 2 1 x\n";
        let addr = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(owner_in(table, addr(50000), addr(8080)), Some(1000));
        assert_eq!(owner_in(table, addr(50001), addr(8080)), None, "it was left by who opened it");
        assert_eq!(owner_in(table, addr(50002), addr(8080)), None);
    }

    #[tokio::test]
    async fn a_connection_of_this_process_is_ours() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap();
        let client = tokio::net::TcpStream::connect(own).await.unwrap();
        let (_stream, peer) = listener.accept().await.unwrap();
        assert!(is_ours(peer, own).await);
        drop(client);
        #[cfg(target_os = "linux")]
        assert!(!is_ours(peer, own).await, "nobody holds it any more");
    }
}
