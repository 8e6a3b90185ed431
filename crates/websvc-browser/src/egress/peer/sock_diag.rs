//! A query to the kernel about one connection (sock_diag(7)). It takes a few microseconds, however many connections
//! there are.

use std::mem::MaybeUninit;
use std::net::{SocketAddr, SocketAddrV4};

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

use super::tcp_state::ESTABLISHED;

/// `SOCK_DIAG_BY_FAMILY`, the type of request and response.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`. Without `NLM_F_DUMP`, one connection is looked up by its endpoints.
const FLAG_REQUEST: u16 = 1;
const AF_INET: u8 = 2;
const IPPROTO_TCP: u8 = 6;
/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// `struct nlmsghdr` and `struct inet_diag_req_v2`.
const REQUEST_BYTES: usize = HEADER + 56;
/// Offsets of the endpoints (`struct inet_diag_sockid`) in a request and in a response.
const REQUEST_ENDPOINTS: usize = HEADER + 8;
const RESPONSE_ENDPOINTS: usize = HEADER + 4;
/// Two ports and two addresses of 16 bytes each.
const ENDPOINTS_BYTES: usize = 36;
/// Offset of the TCP state in a response.
const STATE: usize = HEADER + 1;
/// Offset of the user id in a response, after the endpoints, the interface, the cookie and three counters.
const USER: usize = HEADER + 64;

/// Returns the user who owns the socket `local` of an established connection to `remote`; `None` if the kernel does not
/// answer or has no such connection.
pub(super) fn owner(local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let (SocketAddr::V4(local), SocketAddr::V4(remote)) = (local, remote) else { return None };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(SOCK_DIAG)).ok()?;
    let request = request(local, remote);
    sendto(&socket, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).ok()?;
    // The kernel answers before `sendto` returns.
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let ((response, _), _) = recv(&socket, &mut buffer, RecvFlags::empty()).ok()?;
    parse_owner(response, &request)
}

fn request(local: SocketAddrV4, remote: SocketAddrV4) -> [u8; REQUEST_BYTES] {
    let mut request = [0; REQUEST_BYTES];
    let mut put = |at: usize, bytes: &[u8]| request[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &u32::try_from(REQUEST_BYTES).unwrap_or(u32::MAX).to_ne_bytes());
    put(4, &BY_FAMILY.to_ne_bytes());
    put(6, &FLAG_REQUEST.to_ne_bytes());
    put(HEADER, &[AF_INET, IPPROTO_TCP]);
    put(HEADER + 4, &u32::MAX.to_ne_bytes());
    put(REQUEST_ENDPOINTS, &local.port().to_be_bytes());
    put(REQUEST_ENDPOINTS + 2, &remote.port().to_be_bytes());
    put(REQUEST_ENDPOINTS + 4, &local.ip().octets());
    put(REQUEST_ENDPOINTS + 20, &remote.ip().octets());
    // No interface, and no cookie (`INET_DIAG_NOCOOKIE`).
    put(REQUEST_ENDPOINTS + ENDPOINTS_BYTES + 4, &[0xff; 8]);
    request
}

/// Reads the user from a response, if it is about the requested connection. The kernel may also return a listener on the
/// same port, or a connection that its process has closed.
fn parse_owner(response: &[u8], request: &[u8; REQUEST_BYTES]) -> Option<u32> {
    let number = |at: usize| Some(u32::from_ne_bytes(response.get(at..at + 4)?.try_into().ok()?));
    let is_response = response.get(4..6)? == BY_FAMILY.to_ne_bytes();
    let is_match = response.get(RESPONSE_ENDPOINTS..RESPONSE_ENDPOINTS + ENDPOINTS_BYTES)?
        == &request[REQUEST_ENDPOINTS..REQUEST_ENDPOINTS + ENDPOINTS_BYTES];
    (is_response && is_match && *response.get(STATE)? == ESTABLISHED).then(|| number(USER)).flatten()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn parse_owner_accepts_only_the_requested_connection() {
        let addr = |port| SocketAddrV4::new([127, 0, 0, 1].into(), port);
        let asked = request(addr(50000), addr(8080));
        let response = |state: u8, endpoints: &[u8], user: u32| {
            let mut response = vec![0; HEADER + 72];
            response[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
            response[STATE] = state;
            response[RESPONSE_ENDPOINTS..RESPONSE_ENDPOINTS + ENDPOINTS_BYTES].copy_from_slice(endpoints);
            response[USER..USER + 4].copy_from_slice(&user.to_ne_bytes());
            response
        };
        let endpoints = &asked[REQUEST_ENDPOINTS..REQUEST_ENDPOINTS + ENDPOINTS_BYTES];
        assert_eq!(parse_owner(&response(ESTABLISHED, endpoints, 1000), &asked), Some(1000));
        assert_eq!(parse_owner(&response(5, endpoints, 0), &asked), None, "the client closed it");
        let listener = request(addr(50000), addr(0));
        let listener = &listener[REQUEST_ENDPOINTS..REQUEST_ENDPOINTS + ENDPOINTS_BYTES];
        assert_eq!(parse_owner(&response(ESTABLISHED, listener, 0), &asked), None);
        let mut error = response(ESTABLISHED, endpoints, 0);
        error[4] = 2;
        assert_eq!((parse_owner(&error, &asked), parse_owner(&[], &asked)), (None, None));
    }

    #[test]
    fn owner_is_known_only_for_the_connection_itself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        let client = TcpStream::connect(local).unwrap();
        let (_stream, peer) = listener.accept().unwrap();
        let Some(owner_of_client) = owner(peer, local) else {
            // A sandbox without this protocol, where `/proc/net/tcp` is read instead.
            return;
        };
        assert_eq!(owner_of_client, rustix::process::geteuid().as_raw());
        // The listener has the same port, but is not the connection.
        assert_eq!(owner(local, SocketAddr::from(([127, 0, 0, 1], 1))), None);
        drop(client);
        assert_eq!(owner(peer, local), None);
    }
}
