//! One question to the kernel about one connection (sock_diag(7)): a few microseconds, however many there are.

use std::mem::MaybeUninit;
use std::net::{SocketAddr, SocketAddrV4};

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

use super::tcp_state::ESTABLISHED;

/// `SOCK_DIAG_BY_FAMILY`, the type of question and answer.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`: without `NLM_F_DUMP` one connection is looked up by its ends.
const REQUEST: u16 = 1;
const AF_INET: u8 = 2;
const IPPROTO_TCP: u8 = 6;
/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// `struct nlmsghdr` and `struct inet_diag_req_v2`.
const QUESTION: usize = HEADER + 56;
/// Offsets of the endpoints (`struct inet_diag_sockid`) in a request and in a response.
const ENDS_ASKED: usize = HEADER + 8;
const ENDS_ANSWERED: usize = HEADER + 4;
/// Two ports and two addresses of 16 bytes each.
const ENDS: usize = 36;
const STATE: usize = HEADER + 1;
/// Offset of the user id in a response, after the endpoints, the interface, the cookie and three counters.
const USER: usize = HEADER + 64;

/// Returns the user who holds the established connection from `local` to `remote`; `None` when the kernel does not
/// tell, or has none.
pub(super) fn owner(local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let (SocketAddr::V4(local), SocketAddr::V4(remote)) = (local, remote) else { return None };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(SOCK_DIAG)).ok()?;
    let question = question(local, remote);
    sendto(&socket, &question, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).ok()?;
    // The answer is there when the question has been taken.
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let ((answer, _), _) = recv(&socket, &mut buffer, RecvFlags::empty()).ok()?;
    read(answer, &question)
}

fn question(local: SocketAddrV4, remote: SocketAddrV4) -> [u8; QUESTION] {
    let mut question = [0; QUESTION];
    let mut put = |at: usize, bytes: &[u8]| question[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &u32::try_from(QUESTION).unwrap_or(u32::MAX).to_ne_bytes());
    put(4, &BY_FAMILY.to_ne_bytes());
    put(6, &REQUEST.to_ne_bytes());
    put(HEADER, &[AF_INET, IPPROTO_TCP]);
    put(HEADER + 4, &u32::MAX.to_ne_bytes());
    put(ENDS_ASKED, &local.port().to_be_bytes());
    put(ENDS_ASKED + 2, &remote.port().to_be_bytes());
    put(ENDS_ASKED + 4, &local.ip().octets());
    put(ENDS_ASKED + 20, &remote.ip().octets());
    // No interface, and no cookie (`INET_DIAG_NOCOOKIE`).
    put(ENDS_ASKED + ENDS + 4, &[0xff; 8]);
    question
}

/// Reads the user from an answer about the connection that was asked for. The kernel may answer with a listener that
/// has the same port, or with a connection that was left.
fn read(answer: &[u8], question: &[u8; QUESTION]) -> Option<u32> {
    let number = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
    let is_answer = answer.get(4..6)? == BY_FAMILY.to_ne_bytes();
    let is_it = answer.get(ENDS_ANSWERED..ENDS_ANSWERED + ENDS)? == &question[ENDS_ASKED..ENDS_ASKED + ENDS];
    (is_answer && is_it && *answer.get(STATE)? == ESTABLISHED).then(|| number(USER)).flatten()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn only_the_connection_itself_counts_as_an_answer() {
        let addr = |port| SocketAddrV4::new([127, 0, 0, 1].into(), port);
        let asked = question(addr(50000), addr(8080));
        let answer = |state: u8, ends: &[u8], user: u32| {
            let mut answer = vec![0; HEADER + 72];
            answer[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
            answer[STATE] = state;
            answer[ENDS_ANSWERED..ENDS_ANSWERED + ENDS].copy_from_slice(ends);
            answer[USER..USER + 4].copy_from_slice(&user.to_ne_bytes());
            answer
        };
        let ends = &asked[ENDS_ASKED..ENDS_ASKED + ENDS];
        assert_eq!(read(&answer(ESTABLISHED, ends, 1000), &asked), Some(1000));
        assert_eq!(read(&answer(5, ends, 0), &asked), None, "left by who opened it");
        let listener = question(addr(50000), addr(0));
        let listener = &listener[ENDS_ASKED..ENDS_ASKED + ENDS];
        assert_eq!(read(&answer(ESTABLISHED, listener, 0), &asked), None);
        let mut error = answer(ESTABLISHED, ends, 0);
        error[4] = 2;
        assert_eq!((read(&error, &asked), read(&[], &asked)), (None, None));
    }

    #[test]
    fn the_kernel_names_the_owner_of_a_connection_and_of_no_other_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap();
        let client = TcpStream::connect(own).unwrap();
        let (_stream, peer) = listener.accept().unwrap();
        let Some(owner_of_client) = owner(peer, own) else {
            // A sandbox without this protocol; the table is read there.
            return;
        };
        assert_eq!(owner_of_client, rustix::process::geteuid().as_raw());
        // Whoever listens has the same port, and no such connection.
        assert_eq!(owner(own, SocketAddr::from(([127, 0, 0, 1], 1))), None);
        drop(client);
        assert_eq!(owner(peer, own), None);
    }
}
