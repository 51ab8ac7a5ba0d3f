//! Resolving the names in a workload's values and statements.

use std::collections::HashMap;

use super::chooser::Share;
use super::program::{Operation, Prepared, Program, Statement};
use super::values::{Kind, Scope, Value};
use crate::error::EngineError;
use crate::spec::{self, Distribution, Literal};

/// The variables of an operation, by name: each one's index among the variables, and its kind.
#[derive(Debug, Default)]
struct Names(HashMap<String, (usize, Kind)>);

impl Program {
    pub(super) fn operation(
        &mut self,
        operation: &spec::Operation,
        indices: &mut HashMap<Prepared, usize>,
    ) -> Result<Operation, EngineError> {
        let mut names = Names::default();
        let mut lets = Vec::new();
        for entry in &operation.lets {
            let value = self.value(&entry.value, &names)?;
            names.0.insert(entry.name.clone(), (lets.len(), value.kind()));
            lets.push(value);
        }
        if operation.statements.is_empty() {
            return Err(EngineError::spec("it has no statements"));
        }
        let mut statements = Vec::new();
        for statement in &operation.statements {
            let binds: Vec<Value> = statement
                .binds
                .iter()
                .map(|bind| self.value(bind, &names))
                .collect::<Result<_, _>>()?;
            let choose =
                statement.choose.as_ref().map(|value| self.value(value, &names)).transpose()?;
            if choose.as_ref().is_some_and(|value| value.kind() != Kind::Integer) {
                return Err(EngineError::spec("choose is no whole number"));
            }
            if statement.sql.is_empty() || statement.repeat == 0 {
                return Err(EngineError::spec("a statement needs sql, and repeat of 1 or more"));
            }
            let kinds: Vec<Kind> = binds.iter().map(Value::kind).collect();
            let alternatives = statement
                .sql
                .iter()
                .map(|sql| {
                    let prepared = Prepared { sql: sql.clone(), kinds: kinds.clone() };
                    *indices.entry(prepared.clone()).or_insert_with(|| {
                        self.prepared.push(prepared);
                        self.prepared.len() - 1
                    })
                })
                .collect();
            let (repeat, rows_least) = (statement.repeat, statement.rows_least);
            statements.push(Statement { alternatives, choose, binds, repeat, rows_least });
        }
        Ok(Operation {
            name: operation.name.clone(),
            transaction: operation.transaction,
            records: operation.records,
            consistency: operation.consistency,
            lets,
            statements,
        })
    }

    /// Resolves the names in a value.
    fn value(&mut self, value: &spec::Value, names: &Names) -> Result<Value, EngineError> {
        Ok(match value {
            spec::Value::Literal { value } => match value {
                Literal::Integer(number) => Value::Integer(*number),
                Literal::Unsigned(number) => Value::Text(number.to_string().into_bytes().into()),
                Literal::Number(number) => Value::Double(*number),
                Literal::Text(text) => Value::Text(text.as_bytes().into()),
                Literal::Null(()) => Value::Null,
            },
            spec::Value::Integer { low, high, distribution } => {
                let n = high.checked_sub(*low).and_then(|n| n.checked_add(1)).filter(|&n| n > 0);
                let n = n.ok_or_else(|| {
                    EngineError::spec(format!(
                        "integer: high {high} is below low {low}, or too far"
                    ))
                })? as u64;
                Value::Drawn { low: *low, n, chooser: self.chooser(distribution, n, None) }
            }
            spec::Value::Key { key_space, distribution } => {
                let space = self.space(key_space)?;
                let initial = self.spaces[space].records;
                Value::Key { space, chooser: self.chooser(distribution, initial, Some(space)) }
            }
            spec::Value::NextKey { key_space } => Value::NextKey { space: self.space(key_space)? },
            spec::Value::Row {} => Value::Row,
            spec::Value::Variable { name } => {
                let &(slot, kind) = names
                    .0
                    .get(name)
                    .ok_or_else(|| EngineError::spec(format!("no let defines {name}")))?;
                Value::Variable { slot, kind }
            }
            spec::Value::Sum { of, plus } => {
                Value::Sum { of: Box::new(self.whole_number("sum", of, names)?), plus: *plus }
            }
            spec::Value::FnvHash { of } => {
                Value::FnvHash(Box::new(self.whole_number("fnv_hash", of, names)?))
            }
            spec::Value::Format { template, of } => self.format(template, of, names)?,
            spec::Value::Text { length, alphabet } => {
                Value::RandomText { length: *length as usize, alphabet: *alphabet }
            }
            spec::Value::Pattern { pattern } => Value::Pattern(pattern.as_bytes().into()),
            spec::Value::Column { values } => self.column(values)?,
        })
    }

    fn whole_number(
        &mut self,
        what: &str,
        value: &spec::Value,
        names: &Names,
    ) -> Result<Value, EngineError> {
        let value = self.value(value, names)?;
        if value.kind() == Kind::Integer {
            return Ok(value);
        }
        Err(EngineError::spec(format!("{what} is of a whole number only")))
    }

    fn format(
        &mut self,
        template: &str,
        of: &[spec::Value],
        names: &Names,
    ) -> Result<Value, EngineError> {
        let around: Vec<Box<[u8]>> =
            template.split("{}").map(|part| part.as_bytes().into()).collect();
        if around.len() != of.len() + 1 {
            return Err(EngineError::spec(format!(
                "format {template:?} has {} places for {} values",
                around.len() - 1,
                of.len()
            )));
        }
        let of = of.iter().map(|value| self.value(value, names)).collect::<Result<_, _>>()?;
        Ok(Value::Format { around, of })
    }

    /// Whole numbers where all are, else texts.
    fn column(&mut self, values: &[Literal]) -> Result<Value, EngineError> {
        if values.is_empty() {
            return Err(EngineError::spec("a column needs values"));
        }
        let chooser = self.chooser(&Distribution::Sequential {}, values.len() as u64, None);
        let number = |value: &Literal| match value {
            Literal::Integer(number) => Some(*number),
            _ => None,
        };
        if let Some(of) = values.iter().map(number).collect() {
            return Ok(Value::Numbers { of, chooser });
        }
        let text = |value: &Literal| match value {
            Literal::Integer(number) => Ok(number.to_string().into_bytes().into()),
            Literal::Text(text) => Ok(text.as_bytes().into()),
            _ => Err(EngineError::spec("a column holds whole numbers and texts only")),
        };
        Ok(Value::Texts { of: values.iter().map(text).collect::<Result<_, _>>()?, chooser })
    }

    fn space(&self, name: &str) -> Result<usize, EngineError> {
        let index = self.spaces.iter().position(|space| space.name == name);
        index.ok_or_else(|| EngineError::spec(format!("there is no key space {name}")))
    }
}

/// Compiles values outside any operation: a dataset's row, or a sample.
pub fn compile_row(
    values: &[spec::Value],
    spaces: &[spec::KeySpace],
) -> Result<(Vec<Value>, Scope), EngineError> {
    let mut program = Program::over(spaces);
    let values = values
        .iter()
        .map(|value| program.value(value, &Names::default()))
        .collect::<Result<_, _>>()?;
    let scope = program.scope(Share::WHOLE, Share::WHOLE, 0)?;
    Ok((values, scope))
}
