//! CQL's rounds.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use plimsoll_engine::cql::frames::Reader;
use plimsoll_engine::cql::{codes, prepared};
use plimsoll_engine::generators::rng::Rng;

use crate::answers;
use crate::cql_server::{self, error, frame, row, void};

/// Feeds damaged responses to one reader, and their bodies to what reads these.
pub fn parse(seed: u64) {
    let mut rng = Rng::for_stream(seed, &[]);
    let mut reader = Reader::default();
    let mut bytes: Vec<u8> = (0..4).flat_map(|_| response(&mut rng, 3)).collect();
    answers::damage(&mut rng, &mut bytes);
    let pieces = answers::pieces(&mut rng, &bytes);
    crate::bounded(|| {
        for mut piece in pieces {
            while let Ok(Some(frame)) = reader.next(&mut piece) {
                let _ = codes::error(frame.body());
                let _ = prepared::id(frame.body());
                let _ = prepared::read(frame.body());
            }
        }
    });
}

fn response(rng: &mut Rng, stream: i16) -> Vec<u8> {
    match rng.below(8) {
        0 => void(stream),
        1 => error(stream, [0x1100, 0x1001, 0x2500, 0x0a][rng.below(4) as usize], "broken"),
        2 => {
            let types: Vec<u16> = (0..rng.below(20)).map(|_| rng.below(0x35) as u16).collect();
            cql_server::prepared(stream, &[5; 16], &types)
        }
        3 => frame(-1, cql_server::EVENT, b"\0\x0dSTATUS_CHANGE"),
        _ => row(stream, rng.below(3_000) as usize),
    }
}

/// Plays a server's part, with damage from a place on that the seed chooses.
pub fn talk(mut stream: TcpStream, seed: u64, connection: u64) {
    let mut rng = Rng::for_stream(seed, &[connection]);
    let sound = rng.below(8);
    let mut buffer = vec![0; 65_536];
    for step in 0.. {
        let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
        let Ok(read @ 1..) = stream.read(&mut buffer) else {
            return;
        };
        // the answer to the last request of those that came together
        let on = if read >= 4 { i16::from_be_bytes([buffer[2], buffer[3]]) } else { 0 };
        let mut bytes = match step {
            0 if rng.below(3) == 0 => frame(0, 0x03, b"\0\x04Some"),
            0 => frame(0, cql_server::READY, &[]),
            1 => void(0),
            2 => cql_server::prepared(0, &[5; 16], &[[0x02, 0x09, 0x0d][rng.below(3) as usize]]),
            _ => response(&mut rng, on),
        };
        if step >= sound {
            answers::damage(&mut rng, &mut bytes);
        }
        if stream.write_all(&bytes).is_err() || rng.below(40) == 0 {
            return;
        }
    }
}
