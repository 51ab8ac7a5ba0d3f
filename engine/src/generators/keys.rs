//! Key spaces: the rows of a table by number, and those that inserts add.

use std::collections::VecDeque;

use super::chooser::{Extent, Share};

/// The rows that one client (or, for repeatable runs, one connection) knows of.
///
/// `records` rows are there at the start, numbered from `first`. Its own inserts follow, numbered
/// from `insert_from` on; each takes the `share.step`th number, so that no two clients insert the
/// same row. A row may be drawn once its insert and those of all rows before it have been answered,
/// as in YCSB's `AcknowledgedCounterGenerator`.
#[derive(Debug, Clone)]
pub struct KeySpace {
    first: i64,
    records: u64,
    insert_from: i64,
    share: Share,
    acknowledged: u64,
    /// For each insert issued from `acknowledged` on: whether it has been answered.
    in_flight: VecDeque<bool>,
}

impl KeySpace {
    /// `insert_from`: the number of the first new row of all clients together; by default the one
    /// after those that are there.
    pub fn new(first: i64, records: u64, insert_from: Option<i64>, share: Share) -> Self {
        let insert_from = insert_from.unwrap_or(first.wrapping_add(records as i64));
        KeySpace { first, records, insert_from, share, acknowledged: 0, in_flight: VecDeque::new() }
    }

    /// How many rows may be drawn now.
    pub fn extent(&self) -> Extent {
        Extent { initial: self.records, now: (self.records + self.acknowledged).max(1) }
    }

    /// The number of the row of this index, in the order in which rows became known.
    pub fn number(&self, index: u64) -> i64 {
        if index < self.records {
            return self.first.wrapping_add(index as i64);
        }
        let inserted = self.share.offset + (index - self.records) * self.share.step;
        self.insert_from.wrapping_add(inserted as i64)
    }

    /// Issues a new row: its ticket (for [`KeySpace::acknowledge`]) and its number.
    pub fn issue(&mut self) -> (u64, i64) {
        let ticket = self.acknowledged + self.in_flight.len() as u64;
        self.in_flight.push_back(false);
        (ticket, self.number(self.records + ticket))
    }

    /// The insert of a ticket was answered.
    pub fn acknowledge(&mut self, ticket: u64) {
        if let Some(answered) = self.in_flight.get_mut((ticket - self.acknowledged) as usize) {
            *answered = true;
        }
        while self.in_flight.front() == Some(&true) {
            self.in_flight.pop_front();
            self.acknowledged += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_interleave_their_new_rows() {
        let rows = |offset, insert_from| {
            let mut space = KeySpace::new(1, 10, insert_from, Share { offset, step: 3 });
            [space.issue().1, space.issue().1, space.issue().1]
        };
        assert_eq!(rows(0, None), [11, 14, 17]);
        assert_eq!(rows(1, None), [12, 15, 18]);
        assert_eq!(rows(2, Some(1_000)), [1_002, 1_005, 1_008]);
    }

    #[test]
    fn a_row_is_there_once_it_and_all_before_it_are_answered() {
        let mut space = KeySpace::new(0, 5, None, Share::WHOLE);
        let tickets = [space.issue().0, space.issue().0, space.issue().0];
        space.acknowledge(tickets[1]);
        assert_eq!(space.extent().now, 5);
        space.acknowledge(tickets[0]);
        assert_eq!(space.extent().now, 7);
        space.acknowledge(tickets[2]);
        assert_eq!(space.extent().now, 8);
        assert_eq!(space.number(7), 7);
        assert!(space.in_flight.is_empty());
    }
}
