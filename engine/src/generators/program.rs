//! A workload that is ready to be sent: names are resolved, statements are numbered.

use std::collections::HashMap;

use super::chooser::{Chooser, Share};
use super::keys::KeySpace;
use super::rng::Rng;
use super::values::{Drawing, Kind, Scope, Value};
use crate::error::EngineError;
use crate::spec::{self, Consistency, Distribution};

/// A statement to be prepared on each connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Prepared {
    pub sql: String,
    /// The kinds of its binds.
    pub kinds: Vec<Kind>,
}

impl Prepared {
    /// Its text for a message, cut where it is long: a bulk insert has thousands of binds.
    pub fn excerpt(&self) -> String {
        const LONGEST: usize = 120;
        match self.sql.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{:?}...", &self.sql[..end]),
            None => format!("{:?}", self.sql),
        }
    }
}

/// One statement of an operation.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Indices of [`Program::prepared`]: alternatives, one of which is sent.
    pub alternatives: Vec<usize>,
    pub choose: Option<Value>,
    pub binds: Vec<Value>,
    pub repeat: u32,
    /// The fewest rows that one execution is to meet.
    pub rows_least: u64,
}

#[derive(Debug, Clone)]
pub struct Operation {
    pub name: String,
    pub transaction: bool,
    pub records: u64,
    /// CQL only: how many replicas the coordinator waits for.
    pub consistency: Consistency,
    pub lets: Vec<Value>,
    pub statements: Vec<Statement>,
}

/// A workload with every name resolved; never changed by running it.
#[derive(Debug, Default)]
pub struct Program {
    pub operations: Vec<Operation>,
    pub prepared: Vec<Prepared>,
    cumulative_weights: Vec<f64>,
    pub(super) spaces: Vec<spec::KeySpace>,
    choosers: Vec<ChooserPlan>,
}

#[derive(Debug)]
struct ChooserPlan {
    distribution: Distribution,
    initial: u64,
    /// The key space that it draws from, if one.
    space: Option<usize>,
}

impl Program {
    /// Without operations yet.
    pub(super) fn over(spaces: &[spec::KeySpace]) -> Self {
        Program { spaces: spaces.to_vec(), ..Program::default() }
    }

    pub fn new(workload: &spec::Workload) -> Result<Self, EngineError> {
        let mut program = Program::over(&workload.key_spaces);
        let mut indices: HashMap<Prepared, usize> = HashMap::new();
        let mut total = 0.0;
        for operation in &workload.operations {
            if !(operation.weight.is_finite() && operation.weight >= 0.0) {
                return Err(EngineError::spec(format!(
                    "operation {}: weight is {}: allowed is 0 and more",
                    operation.name, operation.weight
                )));
            }
            total += operation.weight;
            program.cumulative_weights.push(total);
            let compiled = program
                .operation(operation, &mut indices)
                .map_err(|error| error.context(&format!("operation {}", operation.name)))?;
            program.operations.push(compiled);
        }
        if total <= 0.0 {
            return Err(EngineError::spec("the weights of the operations sum to nothing"));
        }
        // the distributions are checked before anything is connected
        program.scope(Share::WHOLE, Share::WHOLE, 0)?;
        Ok(program)
    }

    pub(super) fn chooser(
        &mut self,
        distribution: &Distribution,
        initial: u64,
        space: Option<usize>,
    ) -> usize {
        self.choosers.push(ChooserPlan { distribution: distribution.clone(), initial, space });
        self.choosers.len() - 1
    }

    /// A fresh scope for those who hold these shares: `keys` of the new rows of all clients,
    /// `counters` of this client's sequences. `expected_operations`: how many the whole load is
    /// likely to send, 0 where that is open.
    pub fn scope(
        &self,
        keys: Share,
        counters: Share,
        expected_operations: u64,
    ) -> Result<Scope, EngineError> {
        let spaces = self
            .spaces
            .iter()
            .map(|space| KeySpace::new(space.first, space.records, space.insert_from, keys))
            .collect();
        let choosers = self
            .choosers
            .iter()
            .map(|plan| {
                let expected =
                    plan.space.map(|space| self.expected_inserts(space, expected_operations));
                Chooser::new(&plan.distribution, plan.initial, expected, counters)
            })
            .collect::<Result<_, _>>()?;
        Ok(Scope { spaces, choosers })
    }

    /// Rows that may be added to a key space: twice the inserts among the expected operations
    /// (YCSB's `CoreWorkload` has the same factor), or as many as there are where that is open.
    fn expected_inserts(&self, space: usize, expected_operations: u64) -> u64 {
        let mut previous = 0.0;
        let mut per_operation = 0.0;
        for (operation, &cumulative) in self.operations.iter().zip(&self.cumulative_weights) {
            let values =
                operation.lets.iter().chain(operation.statements.iter().flat_map(|s| &s.binds));
            let inserts = values.filter(|value| issues(value, space)).count();
            per_operation += (cumulative - previous) * inserts as f64;
            previous = cumulative;
        }
        per_operation /= previous.max(f64::MIN_POSITIVE);
        if per_operation == 0.0 {
            return 0;
        }
        match expected_operations {
            0 => self.spaces[space].records,
            operations => (operations as f64 * per_operation * 2.0) as u64,
        }
    }

    /// The index of the next operation, by weight.
    #[inline]
    pub fn choose_operation(&self, rng: &mut Rng) -> usize {
        if self.operations.len() == 1 {
            return 0;
        }
        let total = *self.cumulative_weights.last().expect("a program has operations");
        let drawn = rng.unit() * total;
        let chosen = self.cumulative_weights.iter().position(|&weight| drawn < weight);
        chosen.unwrap_or(self.operations.len() - 1)
    }
}

impl Statement {
    /// The index of the prepared statement to send.
    #[inline]
    pub fn choose(&self, drawing: &mut Drawing, scope: &mut Scope) -> usize {
        let n = self.alternatives.len();
        let chosen = match &self.choose {
            _ if n == 1 => 0,
            None => drawing.rng.below(n as u64) as usize,
            Some(value) => value.integer(drawing, scope).rem_euclid(n as i64) as usize,
        };
        self.alternatives[chosen]
    }
}

impl Operation {
    /// Draws the operation's variables.
    #[inline]
    pub fn begin(&self, drawing: &mut Drawing, scope: &mut Scope) {
        drawing.variables.clear();
        for value in &self.lets {
            let drawn = value.draw(drawing, scope);
            drawing.variables.push(drawn);
        }
    }
}

/// Whether drawing a value issues a new row of this key space.
fn issues(value: &Value, wanted: usize) -> bool {
    match value {
        Value::NextKey { space } => *space == wanted,
        Value::Sum { of, .. } | Value::FnvHash(of) => issues(of, wanted),
        Value::Format { of, .. } => of.iter().any(|value| issues(value, wanted)),
        _ => false,
    }
}
