//! Which lane awaits the answer on which stream of a connection.
//!
//! A lane keeps its stream from operation to operation. When it gives an answer up, the lane takes
//! another stream, and the stream becomes an orphan: it is not used until that answer has come, so
//! that a late answer is never taken for another operation's. The number of orphans is bounded.

/// The protocol's number of streams: not negative, in 16 bits.
const MOST_STREAMS: usize = 1 << 15;
/// Orphans that a connection may have for each of its lanes, and [`SPARE_ORPHANS`] more. So many
/// time-outs without a single answer show that the connection is stuck, not the server.
const ORPHANS_OF_LANE: usize = 8;
const SPARE_ORPHANS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    Slot(u16),
    Orphan,
    Nobody,
}

#[derive(Debug)]
pub struct Streams {
    holders: Vec<Holder>,
    of_slot: Vec<u16>,
    free: Vec<u16>,
    orphans: usize,
}

impl Streams {
    pub fn new(slots: usize) -> Self {
        let of_slot: Vec<u16> = (0..slots as u16).collect();
        let holders = of_slot.iter().map(|&slot| Holder::Slot(slot)).collect();
        Streams { holders, of_slot, free: Vec::new(), orphans: 0 }
    }

    /// The connection is a new one: no answer is awaited.
    pub fn reset(&mut self) {
        *self = Self::new(self.of_slot.len());
    }

    pub fn of(&self, slot: usize) -> u16 {
        self.of_slot[slot]
    }

    /// An answer has come on a stream: returns who awaited it. An orphan's stream may be used again.
    pub fn answered(&mut self, stream: i16) -> Holder {
        let Some(holder) = usize::try_from(stream).ok().and_then(|at| self.holders.get_mut(at))
        else {
            return Holder::Nobody;
        };
        let whose = *holder;
        if whose == Holder::Orphan {
            *holder = Holder::Nobody;
            self.free.push(stream as u16);
            self.orphans -= 1;
        }
        whose
    }

    /// Gives up a slot's answer, and gives the slot another stream. False: there are too many orphans.
    pub fn abandon(&mut self, slot: usize) -> bool {
        let slots = self.of_slot.len();
        let most = (ORPHANS_OF_LANE * slots + SPARE_ORPHANS).min(MOST_STREAMS - slots);
        if self.orphans >= most {
            return false;
        }
        self.orphans += 1;
        self.holders[usize::from(self.of_slot[slot])] = Holder::Orphan;
        let stream = self.free.pop().unwrap_or_else(|| {
            self.holders.push(Holder::Nobody);
            (self.holders.len() - 1) as u16
        });
        self.holders[usize::from(stream)] = Holder::Slot(slot as u16);
        self.of_slot[slot] = stream;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_orphaned_stream_is_taken_again_only_after_its_answer() {
        let mut streams = Streams::new(2);
        assert!(streams.abandon(1));
        assert_eq!((streams.of(0), streams.of(1)), (0, 2));
        assert!(streams.abandon(1));
        assert_eq!(streams.of(1), 3, "neither 1 nor 2 has been answered");
        assert_eq!(streams.answered(1), Holder::Orphan);
        assert_eq!(streams.answered(1), Holder::Nobody, "a second answer to one request");
        assert!(streams.abandon(0));
        assert_eq!((streams.of(0), streams.of(1)), (1, 3));
        assert_eq!(streams.answered(1), Holder::Slot(0));
        assert_eq!(streams.answered(0), Holder::Orphan);
    }

    #[test]
    fn the_orphans_of_a_connection_are_bounded() {
        let mut streams = Streams::new(3);
        let abandoned = (0..100).take_while(|at| streams.abandon(at % 3)).count();
        assert_eq!(abandoned, 40);
        assert_eq!(streams.answered(0), Holder::Orphan);
        assert!(streams.abandon(0));
        assert!(!streams.abandon(0));
        streams.reset();
        assert_eq!((streams.of(2), streams.answered(2)), (2, Holder::Slot(2)));
    }

    #[test]
    fn no_stream_is_beyond_the_protocols() {
        let mut streams = Streams::new(10_000);
        let abandoned = (0..100_000).take_while(|at| streams.abandon(at % 10_000)).count();
        assert_eq!(abandoned, 22_768);
        assert!((0..10_000).all(|slot| streams.of(slot) <= i16::MAX as u16));
    }

    #[test]
    fn streams_that_were_never_used_are_nobodys() {
        let mut streams = Streams::new(1);
        for stream in [-1, 1, i16::MIN, i16::MAX] {
            assert_eq!(streams.answered(stream), Holder::Nobody);
        }
    }
}
