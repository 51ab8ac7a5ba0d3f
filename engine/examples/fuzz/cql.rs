//! CQL's rounds.

use plimsoll_engine::cql::frames::Reader;
use plimsoll_engine::cql::{codes, prepared};
use plimsoll_engine::generators::rng::Rng;

use crate::support::answers;
use crate::support::cql_frames::{self as frames, INT, VARCHAR};
use crate::support::cql_server::{Action, Command, Talk};
use crate::support::serving::Conversation;

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
        0 => frames::void(stream),
        1 => {
            let codes = [0x1100, 0x1001, 0x2500, 0x0a];
            frames::error(stream, codes[rng.below(4) as usize], "broken")
        }
        2 => {
            let types: Vec<u16> = (0..rng.below(20)).map(|_| rng.below(0x35) as u16).collect();
            frames::prepared(stream, &[5; 16], &types)
        }
        3 => frames::frame(-1, frames::EVENT, b"\0\x0dSTATUS_CHANGE"),
        _ => frames::row(stream, rng.below(3_000) as usize),
    }
}

/// A server that answers executions at random. It asks every third client for a password, and every
/// third one's binds do not fit its statements.
pub fn talk(mut rng: Rng, connection: usize) -> impl Conversation {
    let authenticates = rng.below(3) == 0;
    let bind_type = [VARCHAR, VARCHAR, INT][rng.below(3) as usize];
    let behavior =
        move |command: &Command<'_>| Action::Bytes(response(&mut rng, command.stream).into());
    let mut talk = Talk::new(connection, bind_type, behavior);
    talk.authenticates = authenticates;
    talk
}
