//! The server side of SOCKS5 (RFC 1928): `CONNECT` without authentication, for programs behind the guarded client.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use url::Host;

use crate::error::FetchError;

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const DOMAIN_NAME: u8 = 3;
const IPV6: u8 = 4;

/// The reply to a request (RFC 1928, section 6).
#[derive(Clone, Copy)]
enum Reply {
    Succeeded = 0,
    Failed = 1,
    NotAllowed = 2,
    HostUnreachable = 4,
    Refused = 5,
}

/// Reads a request and returns its host and port.
///
/// # Errors
/// The stream ends, or its bytes are another request.
pub async fn accept(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<(Host, u16)> {
    let [version, methods] = read(stream).await?;
    let mut offered = [0; 255];
    let offered = &mut offered[..usize::from(methods)];
    stream.read_exact(offered).await?;
    if version != VERSION || !offered.contains(&NO_AUTHENTICATION) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    stream.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    let [version, command, _reserved, address_type] = read(stream).await?;
    if version != VERSION || command != CONNECT {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let host = match address_type {
        IPV4 => Host::Ipv4(Ipv4Addr::from(read::<4>(stream).await?)),
        IPV6 => Host::Ipv6(Ipv6Addr::from(read::<16>(stream).await?)),
        DOMAIN_NAME => {
            let [length] = read(stream).await?;
            let mut name = vec![0; usize::from(length)];
            stream.read_exact(&mut name).await?;
            parse_host(&name)?
        }
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    Ok((host, u16::from_be_bytes(read(stream).await?)))
}

/// Parses a host name as in URLs, so that an IP address in any spelling becomes that address.
fn parse_host(name: &[u8]) -> io::Result<Host> {
    let name = std::str::from_utf8(name).map_err(|_| io::ErrorKind::InvalidData)?;
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    if let Ok(address) = address.parse() {
        return Ok(Host::Ipv6(address));
    }
    Host::parse(name).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Replies that the tunnel is open.
///
/// # Errors
/// The stream is closed.
pub async fn reply_success(stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    reply(stream, Reply::Succeeded).await
}

/// Replies that there is no tunnel.
///
/// # Errors
/// The stream is closed.
pub async fn reply_failure(stream: &mut (impl AsyncWrite + Unpin), error: &FetchError) -> io::Result<()> {
    let code = match error {
        FetchError::Forbidden => Reply::NotAllowed,
        FetchError::Dns { .. } => Reply::HostUnreachable,
        FetchError::Connect { .. } => Reply::Refused,
        _ => Reply::Failed,
    };
    reply(stream, code).await
}

async fn reply(stream: &mut (impl AsyncWrite + Unpin), code: Reply) -> io::Result<()> {
    // The bound address is optional: no client uses it.
    stream.write_all(&[VERSION, code as u8, 0, IPV4, 0, 0, 0, 0, 0, 0]).await
}

async fn read<const N: usize>(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn requested(request: &[u8]) -> io::Result<(Host, u16)> {
        let (mut client, mut server) = tokio::io::duplex(512);
        client.write_all(request).await.unwrap();
        drop(client.shutdown().await);
        accept(&mut server).await
    }

    fn connect_request(address_type: u8, address: &[u8], port: u16) -> Vec<u8> {
        [&[5, 1, 0, 5, 1, 0, address_type], address, &port.to_be_bytes()].concat()
    }

    #[tokio::test]
    async fn accept_reads_names_and_addresses() {
        let (host, port) = requested(&connect_request(3, b"\x06A.test", 443)).await.unwrap();
        assert_eq!((host.to_string().as_str(), port), ("a.test", 443));
        let (host, _) = requested(&connect_request(1, &[10, 0, 0, 1], 80)).await.unwrap();
        assert_eq!(host, Host::<String>::Ipv4(Ipv4Addr::new(10, 0, 0, 1)));
        let (host, _) = requested(&connect_request(4, &[0; 16], 80)).await.unwrap();
        assert_eq!(host, Host::<String>::Ipv6(Ipv6Addr::UNSPECIFIED));
    }

    #[tokio::test]
    async fn accept_name_that_spells_an_address_is_that_address() {
        let (host, _) = requested(&connect_request(3, b"\x0a0x7f.0.0.1", 80)).await.unwrap();
        assert_eq!(host, Host::<String>::Ipv4(Ipv4Addr::LOCALHOST));
        let (host, _) = requested(&connect_request(3, b"\x03::1", 80)).await.unwrap();
        assert_eq!(host, Host::<String>::Ipv6(Ipv6Addr::LOCALHOST));
    }

    #[tokio::test]
    async fn accept_rejects_other_input() {
        for bad in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x04\x01", b"\x05\x01\x02", &connect_request(9, b"", 1)]
        {
            assert!(requested(bad).await.is_err(), "{bad:?}");
        }
        assert!(requested(&[5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80]).await.is_err(), "BIND");
    }
}
