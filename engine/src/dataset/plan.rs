//! A dataset cut into statements of many rows; of CQL, into rows that are sent together.

use super::cql::CqlSender;
use super::mysql::MysqlSender;
use super::sender::{CHECK_EVERY, Sender};
use crate::error::EngineError;
use crate::generators::compile::compile_row;
use crate::generators::program::Prepared;
use crate::generators::values::{Drawing, Kind, Scope, Value};
use crate::protocol::packets::{self, Binds, NO_ROW};
use crate::session::connect::{Login, Opener, Session};
use crate::spec::{Dataset, Protocol};

/// The protocol's limit for the binds of one statement.
const MOST_BINDS: usize = 65_535;
/// About 60 bytes each while they are sorted: 300 MB.
const MOST_SORTED: i64 = 5_000_000;
/// A quarter of the smallest default of `max_allowed_packet`, 16 MiB.
const LARGEST_STATEMENT: usize = 4 << 20;
/// A dataset cut into statements.
pub struct Plan<'a> {
    pub dataset: &'a Dataset,
    opener: Opener,
    pub values: Vec<Value>,
    pub scope: Scope,
    rows: usize,
    /// The rows' numbers in the order of loading, where that is not their own.
    order: Option<Vec<i64>>,
    pub rows_per_statement: usize,
}

impl<'a> Plan<'a> {
    pub fn new(dataset: &'a Dataset) -> Result<Self, EngineError> {
        let (values, mut scope) = compile_row(&dataset.row, &[])?;
        let rows = dataset.to_row.saturating_sub(dataset.from_row).max(0) as usize;
        let mut drawing = Drawing::of_rows(dataset.seed);
        let mut sample = Vec::new();
        let binds = Binds { values: &values, rows: NO_ROW, send_types: true };
        packets::execute(0, &binds, &mut drawing, &mut scope, &mut sample);
        let most = (MOST_BINDS / values.len()).min(LARGEST_STATEMENT / sample.len()).max(1);
        let mut rows_per_statement = dataset.rows_per_statement as usize;
        let (mut prepared, mut order) = (vec![prepare_cql(dataset, &values)], None);
        if dataset.target.protocol == Protocol::Mysql {
            rows_per_statement = rows_per_statement.min(most);
            let sizes = [rows_per_statement, rows % rows_per_statement];
            let sizes = sizes.into_iter().filter(|&n| n > 0);
            prepared = sizes.map(|n| prepare(dataset, &values, n)).collect();
            order = load_order(dataset, &values, &mut drawing, &mut scope);
        }
        let opener = Opener::new(dataset.target.clone(), prepared)?;
        Ok(Plan { dataset, opener, values, scope, rows, order, rows_per_statement })
    }

    pub fn statements(&self) -> u64 {
        self.rows.div_ceil(self.rows_per_statement) as u64
    }

    /// The rows of a statement.
    pub fn rows(&self, statement: u64) -> Vec<i64> {
        let from = statement as usize * self.rows_per_statement;
        let to = self.rows.min(from + self.rows_per_statement);
        match &self.order {
            Some(order) => order[from..to].to_vec(),
            None => (from..to).map(|row| self.dataset.from_row + row as i64).collect(),
        }
    }

    pub fn open(&self) -> Result<Sender, EngineError> {
        Ok(match self.dataset.target.protocol {
            Protocol::Mysql => Sender::Mysql(MysqlSender::new(self.session()?)),
            Protocol::Cql => Sender::Cql(CqlSender::new(self.session()?)),
        })
    }

    fn session<K: Login>(&self) -> Result<Session<K>, EngineError> {
        let session = self.opener.open()?;
        let timeout = Some(CHECK_EVERY);
        let stream = &session.link.stream;
        stream
            .set_read_timeout(timeout)
            .and_then(|()| stream.set_write_timeout(timeout))
            .map_err(|error| EngineError::new("connection_lost", error.to_string()))?;
        Ok(session)
    }
}

/// The insert of one row in CQL.
fn prepare_cql(dataset: &Dataset, values: &[Value]) -> Prepared {
    let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
    let columns: Vec<String> = dataset.columns.iter().map(quoted).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        quoted(&dataset.table),
        columns.join(", "),
        vec!["?"; values.len()].join(", ")
    );
    Prepared { sql, kinds: values.iter().map(Value::kind).collect() }
}

/// The rows by the text of their first column, which is the key in every workload of ours.
///
/// A hashed key, as YCSB has it, would put each row at a random place of the table: once the table
/// is larger than the server's memory, each row would cost a page read and a page written. In key
/// order each page is filled once. Numbers grow with the rows: they are in order already. Above
/// [`MOST_SORTED`] rows their keys would take too much memory here.
fn load_order(
    dataset: &Dataset,
    values: &[Value],
    drawing: &mut Drawing,
    scope: &mut Scope,
) -> Option<Vec<i64>> {
    let rows = dataset.from_row..dataset.to_row;
    let key = values.first().filter(|value| value.kind() == Kind::Text)?;
    if rows.end.saturating_sub(rows.start) > MOST_SORTED {
        return None;
    }
    let mut keyed: Vec<(Vec<u8>, i64)> = rows
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

fn prepare(dataset: &Dataset, values: &[Value], rows: usize) -> Prepared {
    let quoted = |name: &String| format!("`{}`", name.replace('`', "``"));
    let columns: Vec<String> = dataset.columns.iter().map(quoted).collect();
    let row = format!("({})", vec!["?"; values.len()].join(","));
    let sql = format!(
        "INSERT IGNORE INTO {} ({}) VALUES {}",
        quoted(&dataset.table),
        columns.join(","),
        vec![row; rows].join(",")
    );
    let kinds: Vec<Kind> = values.iter().map(Value::kind).collect();
    Prepared { sql, kinds: kinds.repeat(rows) }
}
