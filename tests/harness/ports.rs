//! Ports for servers that are started later, or again.

use std::net::TcpListener;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below those that systems give to outgoing connections, which could take it meanwhile.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port that is free, and that nobody else in this process is given.
pub fn port_to_listen_on() -> u16 {
    static START: OnceLock<u16> = OnceLock::new();
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = START.get_or_init(|| fastrand::u16(..COUNT));
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let candidates = (0..COUNT).map(|_| FIRST + start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT);
    candidates.into_iter().find(is_free).expect("a free port")
}
