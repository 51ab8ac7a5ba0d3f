//! The order in which rows are loaded.

use super::inserter::Rows;
use crate::generators::values::Kind;
use crate::spec::{Dataset, LoadOrder};

/// Rows whose keys are sorted at most. Each takes about 60 bytes meanwhile: 300 MB together.
const MOST_SORTED: usize = 5_000_000;

/// The rows by the text of their first column, which is the key in all of Plimsoll's workloads.
///
/// A hashed key, as YCSB has it, would put each row at a random place of the table: once the table
/// is larger than the server's memory, each row would cost a page read and a page written. In key
/// order each page is filled once. A key that is a number grows with the rows: they are in order
/// already. Above [`MOST_SORTED`] rows their keys would take too much memory here.
///
/// Pages that were filled once are full; rows that come in the order of their numbers, as YCSB's do,
/// split them, and leave them about two thirds full: a larger table. Whoever asks for that gets it.
pub fn key_order(dataset: &Dataset, rows: &mut Rows) -> Option<Vec<i64>> {
    if dataset.load_order == LoadOrder::Number {
        return None;
    }
    let Rows { values, drawing, scope } = rows;
    let key = values.first().filter(|value| value.kind() == Kind::Text)?;
    if dataset.row_count() > MOST_SORTED {
        return None;
    }
    let mut keyed: Vec<(Vec<u8>, i64)> = (dataset.from_row..dataset.to_row)
        .map(|row| {
            let mut text = Vec::new();
            drawing.start_row(row);
            key.append_text(drawing, scope, &mut text);
            (text, row)
        })
        .collect();
    keyed.sort_unstable();
    Some(keyed.into_iter().map(|(_, row)| row).collect())
}
