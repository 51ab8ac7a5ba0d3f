//! The allowed ranges of a description's fields.

use super::{Dataset, Load, Loop, Protocol, StatementMode, Step, Target, parse};
use crate::error::EngineError;

impl Load {
    /// Reads and checks a load's description.
    pub fn from_json(json: &str) -> Result<Self, EngineError> {
        let load: Load = parse(json)?;
        load.check()?;
        Ok(load)
    }

    fn check(&self) -> Result<(), EngineError> {
        let finite = |name: &str, value: f64, positive: bool| {
            let fits = value.is_finite() && (0.0..=1e6).contains(&value);
            if fits && (!positive || value > 0.0) {
                return Ok(());
            }
            Err(EngineError::spec(format!(
                "{name} is {value}: allowed are seconds up to 1,000,000"
            )))
        };
        finite("warmup_s", self.warmup_s, false)?;
        finite("duration_s", self.duration_s, true)?;
        self.target.check()?;
        range("connections", u64::from(self.connections), 1, 20_000)?;
        range("streams_per_connection", u64::from(self.streams_per_connection), 1, 10_000)?;
        range("threads", u64::from(self.threads), 1, 64)?;
        range("poll_us", u64::from(self.poll_us), 0, 1_000)?;
        range("timeout_ms", self.timeout_ms, 1, 300_000_000)?;
        if self.client_index >= self.client_count {
            return Err(EngineError::spec(format!(
                "client_index is {}: allowed is less than client_count, {}",
                self.client_index, self.client_count
            )));
        }
        if self.operations_limit == Some(0) {
            return Err(EngineError::spec("operations_limit is 0: allowed is 1 and more"));
        }
        let pauses = |each: &super::Operation| each.keying_s > 0.0 || each.think_s > 0.0;
        if let (Loop::Open { .. }, Some(one)) =
            (&self.pacing, self.workload.operations.iter().find(|each| pauses(each)))
        {
            return Err(EngineError::spec(format!(
                "operation {}: keying_s and think_s are for a closed loop: an open one has a rate",
                one.name
            )));
        }
        if self.target.statement_mode == StatementMode::Simple
            && let Some(one) = self.workload.operations.iter().find(|each| sends_ahead(&each.steps))
        {
            return Err(EngineError::spec(format!(
                "operation {}: a pipeline, or several statements at once, need prepared statements",
                one.name
            )));
        }
        range("sequence_from", self.sequence_from, 0, 1 << 53)?;
        if let Loop::Open { rate_ops_per_second: rate, .. } = self.pacing
            && !(rate.is_finite() && rate > 0.0 && rate <= 1e7)
        {
            return Err(EngineError::spec(format!(
                "rate_ops_per_second is {rate}: allowed is more than 0 and up to 10,000,000"
            )));
        }
        Ok(())
    }
}

/// Whether steps ask for statements that are sent before others are answered.
fn sends_ahead(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Send { ahead, .. } => *ahead == Some(true),
        Step::If { then, otherwise, .. } | Step::When { then, otherwise, .. } => {
            sends_ahead(then) || sends_ahead(otherwise)
        }
        Step::Repeat { steps, .. } | Step::Each { steps, .. } => sends_ahead(steps),
        _ => false,
    })
}

impl Target {
    fn check(&self) -> Result<(), EngineError> {
        if self.protocol != Protocol::Cql && !self.nodes.is_empty() {
            return Err(EngineError::spec("nodes is for the protocol cql only"));
        }
        if self.protocol == Protocol::Cql && !self.session_settings.is_empty() {
            return Err(EngineError::spec("session_settings are for SQL databases only"));
        }
        if self.protocol == Protocol::Postgres {
            return Ok(());
        }
        let set = [
            ("statement_mode", self.statement_mode != StatementMode::Prepared),
            ("allow_md5", self.allow_md5),
        ];
        match set.into_iter().find(|(_, set)| *set) {
            Some((name, _)) => {
                Err(EngineError::spec(format!("{name} is for the protocol postgres only")))
            }
            None => Ok(()),
        }
    }
}

impl Dataset {
    /// Reads and checks a dataset's description.
    pub fn from_json(json: &str) -> Result<Self, EngineError> {
        let dataset: Dataset = parse(json)?;
        dataset.target.check()?;
        range("connections", u64::from(dataset.connections), 1, 1_000)?;
        range("rows_per_statement", u64::from(dataset.rows_per_statement), 1, 65_535)?;
        range("timeout_ms", dataset.timeout_ms, 1, 300_000_000)?;
        if dataset.columns.is_empty() || dataset.columns.len() != dataset.row.len() {
            return Err(EngineError::spec(format!(
                "row has {} values for {} columns",
                dataset.row.len(),
                dataset.columns.len()
            )));
        }
        Ok(dataset)
    }

    /// The number of rows to load.
    pub fn row_count(&self) -> usize {
        self.to_row.saturating_sub(self.from_row).max(0) as usize
    }
}

fn range(name: &str, value: u64, low: u64, high: u64) -> Result<(), EngineError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(EngineError::spec(format!("{name} is {value}: allowed are {low} to {high}")))
}
