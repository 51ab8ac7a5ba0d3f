//! MySQL's rounds.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use plimsoll_engine::generators::rng::Rng;
use plimsoll_engine::mysql::answer::Answer;

use crate::{answers, wire};

/// Feeds a damaged answer, and damaged ones after it, to one parser.
pub fn parse(seed: u64) {
    let mut rng = Rng::for_stream(seed, &[]);
    let mut answer = Answer::new(rng.below(2) == 0);
    for _ in 0..4 {
        let (mut bytes, _) = answers::draw(&mut rng, seed.is_multiple_of(2));
        answers::damage(&mut rng, &mut bytes);
        let pieces = answers::pieces(&mut rng, &bytes);
        crate::bounded(|| {
            for piece in pieces {
                if !matches!(answer.feed(piece), Ok(None)) {
                    break;
                }
            }
        });
        answer.reset();
    }
}

/// Plays a server's part, with damage from a place on that the seed chooses.
pub fn talk(mut stream: TcpStream, seed: u64, connection: u64) {
    let mut rng = Rng::for_stream(seed, &[connection]);
    let sound = rng.below(8);
    let mut bytes = wire::greeting(wire::CAPABILITIES);
    let mut buffer = vec![0; 65_536];
    for step in 0.. {
        if step >= sound {
            answers::damage(&mut rng, &mut bytes);
        }
        if stream.write_all(&bytes).is_err() || rng.below(40) == 0 {
            return;
        }
        let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
        if !matches!(stream.read(&mut buffer), Ok(1..)) {
            return;
        }
        let mut sequence = if step == 0 { 2 } else { 1 };
        bytes = Vec::new();
        match step {
            0 if rng.below(3) == 0 => {
                let plugin = ["caching_sha2_password", "client_ed25519", "sha256_password", "odd"];
                let mut switch = vec![0xfe];
                switch.extend_from_slice(plugin[rng.below(4) as usize].as_bytes());
                switch.push(0);
                switch.extend_from_slice(&b"abcdefghijklmnopqrst\0"[..rng.below(22) as usize]);
                wire::packet(&mut sequence, &switch, &mut bytes);
            }
            0 => wire::ok(&mut sequence, 0, 2, &mut bytes),
            1 => bytes = wire::prepared(1, 1, 1, true),
            _ => (bytes, _) = answers::draw(&mut rng, true),
        }
    }
}
