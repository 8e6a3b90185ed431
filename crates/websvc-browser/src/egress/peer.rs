//! The owner of the peer socket of a loopback connection.

#[cfg(target_os = "linux")]
mod sock_diag;
mod tcp_state;

use std::net::SocketAddr;

use tcp_state::ESTABLISHED;

/// Returns whether the user of this process owns the socket of `peer`, the client side of a connection to `local`.
///
/// On systems that do not report the owners of connections, it is true for every local process.
pub(super) async fn is_same_user(peer: SocketAddr, local: SocketAddr) -> bool {
    let user = rustix::process::geteuid().as_raw();
    #[cfg(target_os = "linux")]
    if let Some(owner) = sock_diag::owner(peer, local) {
        return owner == user;
    }
    // The kernel did not answer (in a sandbox or without the module), or has no such connection.
    match tokio::fs::read_to_string("/proc/net/tcp").await {
        Ok(table) => owner_in(&table, peer, local) == Some(user),
        Err(_) => !cfg!(target_os = "linux"),
    }
}

/// Returns the user of the established connection with these endpoints in the text of `/proc/net/tcp`.
fn owner_in(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let (local, remote) = (table_format(local)?, table_format(remote)?);
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_match = fields.next()? == local
            && fields.next()? == remote
            && u8::from_str_radix(fields.next()?, 16) == Ok(ESTABLISHED);
        // The user follows the queues, the timer and the retransmissions.
        if is_match { fields.nth(3)?.parse().ok() } else { None }
    })
}

/// Formats an address as in `/proc/net/tcp`.
fn table_format(addr: SocketAddr) -> Option<String> {
    let SocketAddr::V4(addr) = addr else { return None };
    Some(format!("{:08X}:{:04X}", u32::from_ne_bytes(addr.ip().octets()), addr.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn owner_in_returns_the_user_of_an_established_connection() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     5        0 1 1 x\n   \
             1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 x\n   \
             2: 0100007F:C351 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 2 1 x\n";
        let addr = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(owner_in(table, addr(50000), addr(8080)), Some(1000));
        assert_eq!(owner_in(table, addr(50001), addr(8080)), None, "the client closed it");
        assert_eq!(owner_in(table, addr(50002), addr(8080)), None);
    }

    #[tokio::test]
    async fn is_same_user_for_a_connection_of_this_process() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let local = listener.local_addr().unwrap();
        let client = tokio::net::TcpStream::connect(local).await.unwrap();
        let (_stream, peer) = listener.accept().await.unwrap();
        assert!(is_same_user(peer, local).await);
        drop(client);
        #[cfg(target_os = "linux")]
        assert!(!is_same_user(peer, local).await, "the client closed it");
    }
}
