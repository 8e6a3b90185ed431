//! Whose process is at the other end of a loopback connection.

use std::net::SocketAddr;

/// Tells whether the connection from `peer` to `own` was opened by a process of the same user as this one.
///
/// Where the system has no table of connections, everybody on the machine counts as the same user.
pub(super) async fn is_ours(peer: SocketAddr, own: SocketAddr) -> bool {
    match tokio::fs::read_to_string("/proc/net/tcp").await {
        Ok(table) => owner(&table, peer, own) == Some(rustix::process::geteuid().as_raw()),
        Err(_) => !cfg!(target_os = "linux"),
    }
}

/// Finds the user of the socket with these ends in the table, as Linux writes it.
fn owner(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let (local, remote) = (written(local)?, written(remote)?);
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_it = fields.next()? == local && fields.next()? == remote;
        // Behind state, queues, timer and retransmissions.
        if is_it { fields.nth(4)?.parse().ok() } else { None }
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
    fn the_owner_of_a_socket_is_found() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     5        0 1 1 x\n   \
             1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 x\n";
        let addr = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(owner(table, addr(50000), addr(8080)), Some(1000));
        assert_eq!(owner(table, addr(50001), addr(8080)), None);
    }

    #[tokio::test]
    async fn a_connection_of_this_process_is_ours() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap();
        let _client = tokio::net::TcpStream::connect(own).await.unwrap();
        let (_stream, peer) = listener.accept().await.unwrap();
        assert!(is_ours(peer, own).await);
    }
}
