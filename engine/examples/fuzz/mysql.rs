//! MySQL's rounds.

use plimsoll_engine::generators::rng::Rng;
use plimsoll_engine::mysql::answer::Answer;

use crate::support::answers;
use crate::support::mysql_server::{Action, Command, Talk};
use crate::support::serving::Conversation;

/// Feeds a damaged answer, and damaged ones after it, to one parser.
pub fn parse(seed: u64) {
    let mut rng = Rng::for_stream(seed, &[]);
    let mut answer = Answer::new(answers::agreed(rng.below(4)));
    for _ in 0..4 {
        let (mut bytes, _) = answers::draw(&mut rng, answers::agreed(seed));
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

/// A server that answers commands at random, and asks every third client for another plugin.
pub fn talk(mut rng: Rng, connection: usize) -> impl Conversation {
    let (switch, mariadb) = ((rng.below(3) == 0).then(|| switch(&mut rng)), rng.below(2) == 0);
    let behavior = move |command: &Command<'_>| {
        Action::Bytes(answers::draw(&mut rng, command.agreed).0.into())
    };
    let talk = Talk::new(connection, 1, behavior).offering_as_mariadb(mariadb);
    match switch {
        Some(payload) => talk.switching(payload),
        None => talk,
    }
}

/// The payload of a packet that asks for a plugin, known or not, with a challenge of any length.
fn switch(rng: &mut Rng) -> Vec<u8> {
    let plugins = ["caching_sha2_password", "client_ed25519", "sha256_password", "odd"];
    let plugin = plugins[rng.below(4) as usize].as_bytes();
    let challenge = &b"abcdefghijklmnopqrst\0"[..rng.below(22) as usize];
    [b"\xfe", plugin, b"\0", challenge].concat()
}
