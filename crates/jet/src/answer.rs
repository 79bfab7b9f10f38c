//! What a program is told of how its connection went.

use crate::door::{Accepted, Answer};
use crate::program;
use std::io;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// RFC 1928, section 6: how it went; the bound address is not told.
fn socks_reply(reply: u8) -> [u8; 10] {
    [5, reply, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// The destination was reached: tells the program, and gives its stream for bytes to flow.
pub(crate) async fn opened(mut accepted: Accepted) -> io::Result<TcpStream> {
    if let Answer::Socks5 = accepted.answer {
        accepted.stream.write_all(&socks_reply(0)).await?;
    }
    Ok(accepted.stream)
}

/// The destination was not reached, for a reason with this number (P-14): tells the program, as far as that kind of door can.
pub(crate) async fn refused(mut accepted: Accepted, code: u32) {
    let reply = match code as i32 {
        libc::EACCES | libc::EPERM => 2,
        libc::ENETUNREACH => 3,
        libc::EHOSTUNREACH => 4,
        libc::ECONNREFUSED => 5,
        libc::ETIMEDOUT => 6,
        _ => 1,
    };
    match accepted.answer {
        Answer::Established => program::reset(&accepted.stream),
        Answer::Socks5 => {
            // A program that has gone needs no answer.
            let _ = accepted.stream.write_all(&socks_reply(reply)).await;
            let _ = accepted.stream.shutdown().await;
        }
    }
}
