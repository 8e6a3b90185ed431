//! Tests of unexpected client frames: the socket closes in order, and the service continues.

use std::time::Duration;

use super::client::JobSocket;
use super::{BATCH, never_ending_batch, site_of};
use crate::batch::{delete, start_at};
use crate::harness::Service;

/// Returns a client frame with this first byte, and the payload masked with zeros.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | length as u8),
        length @ 126..=0xffff => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

#[tokio::test(flavor = "multi_thread")]
async fn unexpected_frames_close_the_socket_with_a_code() {
    let world = site_of(1, Duration::ZERO, "").await;
    let service = Service::for_world(&world);
    let path = start_at(&service, BATCH, never_ending_batch(1)).await;
    let flood: Vec<u8> = (0..300).flat_map(|_| masked(0x81, b"hello")).collect();
    let fragments: Vec<u8> = std::iter::once(masked(0x01, b"start"))
        .chain((0..2_000).map(|_| masked(0x00, b"continues")))
        .flatten()
        .collect();
    let cases: [(&str, Vec<u8>, Option<u16>); 12] = [
        ("unmasked", vec![0x81, 0x02, b'h', b'i'], Some(1002)),
        ("a reserved bit", masked(0xc1, b"hi"), Some(1002)),
        ("an unknown opcode", masked(0x83, b"hi"), Some(1002)),
        ("a fragmented ping", masked(0x09, b"hi"), Some(1002)),
        ("a long ping", masked(0x89, &[0; 126]), Some(1002)),
        ("a continuation without a first frame", masked(0x80, b"hi"), Some(1002)),
        ("invalid UTF-8", masked(0x81, &[0xff, 0xfe]), Some(1007)),
        ("a large frame", masked(0x82, &[0; 5_000]), Some(1009)),
        (
            "a frame that declares a huge length",
            vec![0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            Some(1009),
        ),
        ("many small fragments", fragments, Some(1009)),
        ("a flood", flood, Some(1008)),
        ("a close frame", masked(0x88, &1000_u16.to_be_bytes()), Some(1000)),
    ];
    for (name, bytes, expected) in cases {
        let events = JobSocket::open_and_write(&service, &path, &[], &bytes).await.into_events().await;
        assert_eq!(events.closed.as_ref().map(|(code, _)| *code), expected, "{name}: {events:?}");
        assert_eq!(service.get(&path).await.status, 200, "{name}");
    }
    delete(&service, &path).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn client_messages_and_pings_are_ignored() {
    let world = site_of(1, Duration::ZERO, "").await;
    let service = Service::for_world(&world);
    let path = start_at(&service, BATCH, never_ending_batch(1)).await;
    let polite = [masked(0x81, b"hello"), masked(0x89, b"there?"), masked(0x82, &[0; 64])].concat();
    let mut socket = JobSocket::open_and_write(&service, &path, &[], &polite).await;
    socket.next().await;
    delete(&service, &path).await;
    assert_eq!(socket.into_events().await.closed.unwrap().0, 1000);
}
