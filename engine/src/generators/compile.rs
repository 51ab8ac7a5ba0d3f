//! Resolving the names in a workload's values and statements.

use std::collections::{HashMap, HashSet};

use super::chooser::Share;
use super::expressions::Expression;
use super::formulas::{Formula, MOST_VALUES, read_text};
use super::lists::List;
use super::program::{Each, Form, Operation, Prepared, Program, Statement, Step};
use super::values::{Kind, Scope, Value};
use crate::error::EngineError;
use crate::spec::{
    self, Distribution, FormulaFunction, Function, Literal, ReturnedKind, SessionValue,
};

/// The variables of an operation, by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    known: HashMap<String, Named>,
    /// The names that statements' results are kept under: they may be null.
    returned: HashSet<String>,
    /// The texts of a connection's variables that no operation sets.
    constant: HashMap<String, String>,
    lists: Vec<NamedList>,
}

/// A list of the operation, with the names of a line's variables.
#[derive(Debug, Clone)]
struct NamedList {
    name: String,
    /// The variable that keeps how many lines there are.
    counted: usize,
    width: usize,
    least: usize,
    most: usize,
    members: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
struct Named {
    /// The index among the variables.
    slot: usize,
    kind: Kind,
    nullable: bool,
}

impl Names {
    fn find(&self, name: &str) -> Result<Named, EngineError> {
        let named = self.known.get(name).copied();
        named.ok_or_else(|| EngineError::spec(format!("no let defines {name}")))
    }

    fn find_list(&self, name: &str) -> Result<(usize, &NamedList), EngineError> {
        let mut lists = self.lists.iter().enumerate();
        let found = lists.find(|(_, list)| list.name == name);
        found.ok_or_else(|| EngineError::spec(format!("there is no list {name}")))
    }

    /// The same names, with those of a list's lines for this line, from 1.
    fn at_line(&self, list: &NamedList, line: usize) -> Names {
        let mut names = self.clone();
        for member in &list.members {
            names.known.entry(member.clone()).and_modify(|each| each.slot += line * list.width);
        }
        names
    }
}

/// Blocks within each other at most: a script's `\elif` is one within the other side of its `\if`.
const DEEPEST: usize = 100;
const MOST_STEPS: usize = 10_000;
/// Lines of a list at most: a statement is prepared for each number of lines.
const MOST_LINES: u32 = 100;

impl Program {
    pub(super) fn operation(
        &mut self,
        operation: &spec::Operation,
        mut names: Names,
        indices: &mut HashMap<Prepared, usize>,
    ) -> Result<Operation, EngineError> {
        let returned = operation.statements.iter().flat_map(|statement| &statement.returns);
        names.returned.extend(returned.clone().map(|each| each.name.clone()));
        let mut lets = Vec::new();
        for entry in &operation.lets {
            lets.push(self.variable(entry, &mut names)?);
        }
        let mut lists = Vec::new();
        for list in &operation.lists {
            let compiled = self.list(list, &mut names);
            lists.push(compiled.map_err(|error| error.context(&format!("list {}", list.name)))?);
        }
        for each in returned {
            self.returned(each, &mut names)?;
        }
        if operation.statements.is_empty() {
            return Err(EngineError::spec("it has no statements"));
        }
        let mut steps = Vec::new();
        self.steps(&operation.steps, operation, 0, &mut names, &mut steps)?;
        check_steps(operation)?;
        let mut statements = Vec::new();
        for statement in &operation.statements {
            let choose =
                statement.choose.as_ref().map(|value| self.value(value, &names)).transpose()?;
            if choose.as_ref().is_some_and(|value| value.kind() != Kind::Integer) {
                return Err(EngineError::spec("choose is no whole number"));
            }
            if statement.sql.is_empty() || statement.repeat == 0 {
                return Err(EngineError::spec("a statement needs sql, and repeat of 1 or more"));
            }
            let each = statement.each.as_ref();
            let each = each.map(|each| self.each(statement, each, &names, indices)).transpose()?;
            let Form { alternatives, binds } = match &each {
                Some(each) => each.forms[each.forms.len() - 1].clone(),
                None => {
                    let binds = statement.binds.iter().map(|bind| self.value(bind, &names));
                    let binds = binds.collect::<Result<_, _>>()?;
                    self.form(statement, &mut statement.sql.iter(), binds, indices)
                }
            };
            let (repeat, rows_least, row) = (statement.repeat, statement.rows_least, statement.row);
            let uncounted = is_uncounted(&statement.sql[0]);
            let returns = statement
                .returns
                .iter()
                .map(|each| (names.known[&each.name].slot, each.kind))
                .collect();
            statements.push(Statement {
                alternatives,
                choose,
                binds,
                repeat,
                rows_least,
                returns,
                row,
                uncounted,
                each: each.map(Box::new),
            });
        }
        let single = matches!(&statements[..], [only] if only.repeat == 1)
            && steps.is_empty()
            && !(operation.transaction || operation.own_transactions);
        Ok(Operation {
            name: operation.name.clone(),
            transaction: operation.transaction,
            own_transactions: operation.own_transactions,
            records: operation.records,
            consistency: operation.consistency,
            lets,
            lists,
            statements,
            steps,
            single,
            max_tries: operation.max_tries,
            keying_s: operation.keying_s,
            think_s: operation.think_s,
            variables: self.variables,
        })
    }

    /// Compiles a list: its variables for the current line, and room for those of each line.
    fn list(&mut self, list: &spec::List, names: &mut Names) -> Result<List, EngineError> {
        if !(1..=MOST_LINES).contains(&list.least)
            || !(list.least..=MOST_LINES).contains(&list.most)
        {
            let message = format!(
                "it has {} to {} lines: allowed are 1 to {MOST_LINES}",
                list.least, list.most
            );
            return Err(EngineError::spec(message));
        }
        let count = self.whole_number("count", &list.count, names)?;
        let counted = self.name("", Kind::Integer, names);
        let slot = self.name(&list.name, Kind::Integer, names);
        let mut lets = Vec::new();
        for entry in &list.lets {
            lets.push(self.variable(entry, names)?);
        }
        for each in &list.returned {
            self.returned(each, names)?;
        }
        let key = names.find(list.key.as_ref().unwrap_or(&list.name))?;
        if key.kind != Kind::Integer || key.slot < slot {
            return Err(EngineError::spec("key is no whole number of its lines"));
        }
        let (width, least, most) = (self.variables - slot, list.least as usize, list.most as usize);
        self.variables += most * width;
        let drawn = list.lets.iter().map(|entry| &entry.name);
        let returned = list.returned.iter().map(|each| &each.name);
        let members = std::iter::once(&list.name).chain(drawn).chain(returned);
        let members: HashSet<String> = members.cloned().collect();
        let (name, members) = (list.name.clone(), members.into_iter().collect());
        names.lists.push(NamedList { name, counted, width, least, most, members });
        let key = key.slot;
        Ok(List { count, counted, least, most, slot, width, lets, key })
    }

    /// Gives what a statement returns a variable, unless it is drawn or returned before.
    fn returned(&mut self, each: &spec::Returned, names: &mut Names) -> Result<(), EngineError> {
        let kind = match each.kind {
            ReturnedKind::Integer => Kind::Integer,
            ReturnedKind::Text => Kind::Text,
        };
        if !names.known.contains_key(&each.name) {
            self.name(&each.name, kind, names);
        } else if names.find(&each.name)?.kind != kind {
            let message = format!("returns: {} is drawn as another kind of value", each.name);
            return Err(EngineError::spec(message));
        }
        Ok(())
    }

    /// Compiles a statement for each number of lines of a list.
    fn each(
        &mut self,
        statement: &spec::Statement,
        each: &spec::Each,
        names: &Names,
        indices: &mut HashMap<Prepared, usize>,
    ) -> Result<Each, EngineError> {
        let (list, named) = names.find_list(&each.list)?;
        let counts = named.most - named.least + 1;
        let Some(before) = statement.binds.get(..each.first) else {
            return Err(EngineError::spec("each begins after the binds"));
        };
        let Some(repeated) = statement.binds.get(each.first..each.end) else {
            return Err(EngineError::spec("each has binds that the statement has not"));
        };
        if statement.sql.is_empty() || !statement.sql.len().is_multiple_of(counts) {
            let message = format!("each needs a text for each of {counts} numbers of lines");
            return Err(EngineError::spec(message));
        }
        let mut forms = Vec::new();
        for lines in named.least..=named.most {
            let mut binds = Vec::new();
            for bind in before {
                binds.push(self.value(bind, names)?);
            }
            for line in 1..=lines {
                let names = names.at_line(named, line);
                for bind in repeated {
                    binds.push(self.value(bind, &names)?);
                }
            }
            for bind in &statement.binds[each.end..] {
                binds.push(self.value(bind, names)?);
            }
            let mut texts = statement.sql.iter().skip(lines - named.least).step_by(counts);
            forms.push(self.form(statement, &mut texts, binds, indices));
        }
        Ok(Each { list, forms })
    }

    /// Numbers the texts that a statement's alternatives have, and has each prepared once.
    fn form(
        &mut self,
        statement: &spec::Statement,
        texts: &mut dyn Iterator<Item = &String>,
        binds: Vec<Value>,
        indices: &mut HashMap<Prepared, usize>,
    ) -> Form {
        let kinds: Vec<Kind> = binds.iter().map(Value::kind).collect();
        let returns: Vec<_> = statement.returns.iter().map(|each| each.kind).collect();
        let alternatives = texts
            .map(|sql| {
                let (sql, kinds, returns) = (sql.clone(), kinds.clone(), returns.clone());
                let prepared = Prepared { sql, kinds, returns };
                *indices.entry(prepared.clone()).or_insert_with(|| {
                    self.prepared.push(prepared);
                    self.prepared.len() - 1
                })
            })
            .collect();
        Form { alternatives, binds }
    }

    /// Gives each variable of a connection a place of its own, before those of operations.
    pub(super) fn session_names(
        &mut self,
        variables: &[spec::SessionVariable],
        operations: &[spec::Operation],
    ) -> Names {
        let mut names = Names::default();
        let mut set = HashSet::new();
        for operation in operations {
            let returned = operation.statements.iter().flat_map(|statement| &statement.returns);
            set.extend(returned.map(|each| each.name.as_str()));
            list_set(&operation.steps, &mut set);
        }
        for spec::SessionVariable { name, starts } in variables {
            names.returned.insert(name.clone()); // it may be null
            self.name(name, Kind::Text, &mut names);
            if let (SessionValue::Text { value }, false) = (starts, set.contains(name.as_str())) {
                names.constant.insert(name.clone(), value.clone());
            }
        }
        names
    }

    /// Gives a name a variable of its own.
    fn name(&mut self, name: &str, kind: Kind, names: &mut Names) -> usize {
        let slot = self.variables;
        self.variables += 1;
        let nullable = names.returned.contains(name);
        names.known.insert(name.to_owned(), Named { slot, kind, nullable });
        slot
    }

    /// A variable and what it is drawn from.
    fn variable(
        &mut self,
        entry: &spec::Let,
        names: &mut Names,
    ) -> Result<(usize, Value), EngineError> {
        let value = self.value(&entry.value, names)?;
        let slot = self.name(&entry.name, value.kind(), names);
        if value.may_be_null() {
            names.known.entry(entry.name.clone()).and_modify(|named| named.nullable = true);
        }
        Ok((slot, value))
    }

    /// Compiles steps: branches and loops become jumps.
    fn steps(
        &mut self,
        declared: &[spec::Step],
        operation: &spec::Operation,
        depth: usize,
        names: &mut Names,
        steps: &mut Vec<Step>,
    ) -> Result<(), EngineError> {
        if depth > DEEPEST || steps.len() > MOST_STEPS {
            return Err(EngineError::spec("it has too many steps, or too many within each other"));
        }
        for step in declared {
            match step {
                spec::Step::Send { statement, ahead } => {
                    let Some(sent) = operation.statements.get(*statement) else {
                        let message = format!("there is no statement {statement}");
                        return Err(EngineError::spec(message));
                    };
                    let ahead = ahead.unwrap_or(true) && sent.returns.is_empty();
                    steps.push(Step::Send { statement: *statement, ahead });
                }
                spec::Step::Await {} => steps.push(Step::Await),
                spec::Step::If { condition, then, otherwise } => {
                    let first = Step::Unless { condition: expression(condition, names)?, to: 0 };
                    self.branch(first, [then, otherwise], operation, depth, names, steps)?;
                }
                spec::Step::When { condition, place, then, otherwise } => {
                    let condition = formula_at(condition, place, names)?;
                    let first = Step::When { condition, to: 0, place: place.as_str().into() };
                    self.branch(first, [then, otherwise], operation, depth, names, steps)?;
                }
                spec::Step::Set { name, of, place } => {
                    let of = formula_at(of, place, names)?;
                    let slot = names.find(name)?.slot;
                    steps.push(Step::Set { slot, of, place: place.as_str().into() });
                }
                spec::Step::Sleep { us, times, place } => {
                    let times = times.as_ref().map(|name| names.find(name)).transpose()?;
                    let times = times.map(|named| named.slot);
                    steps.push(Step::Sleep { us: *us, times, place: place.as_str().into() });
                }
                spec::Step::Repeat { times, turn, lets, steps: repeated } => {
                    let times = self.whole_number("repeat", times, names)?;
                    let turns = self.name("", Kind::Integer, names);
                    steps.push(Step::Keep { slot: turns, value: times });
                    let turn = self.name(turn, Kind::Integer, names);
                    steps.push(Step::Keep { slot: turn, value: Value::Integer(0) });
                    let start = steps.len();
                    steps.push(Step::Turn { turn, turns, end: 0 });
                    for entry in lets {
                        let (slot, value) = self.variable(entry, names)?;
                        steps.push(Step::Keep { slot, value });
                    }
                    self.steps(repeated, operation, depth + 1, names, steps)?;
                    steps.push(Step::GoTo(start));
                    steps[start] = Step::Turn { turn, turns, end: steps.len() };
                }
                spec::Step::Each { list, steps: repeated } => {
                    let turn = self.name("", Kind::Integer, names);
                    let (list, named) = names.find_list(list)?;
                    let turns = named.counted;
                    steps.push(Step::Keep { slot: turn, value: Value::Integer(0) });
                    let start = steps.len();
                    steps.push(Step::Turn { turn, turns, end: 0 });
                    steps.push(Step::Line { list, turn });
                    self.steps(repeated, operation, depth + 1, names, steps)?;
                    steps.push(Step::Line { list, turn });
                    steps.push(Step::GoTo(start));
                    steps[start] = Step::Turn { turn, turns, end: steps.len() };
                }
                spec::Step::Rollback {} => steps.push(Step::Rollback),
            }
        }
        Ok(())
    }

    /// Compiles a branch: its first step goes on with the one side, or jumps to the other.
    fn branch(
        &mut self,
        first: Step,
        [then, otherwise]: [&[spec::Step]; 2],
        operation: &spec::Operation,
        depth: usize,
        names: &mut Names,
        steps: &mut Vec<Step>,
    ) -> Result<(), EngineError> {
        let branch = steps.len();
        steps.push(first);
        self.steps(then, operation, depth + 1, names, steps)?;
        let jump = steps.len();
        if !otherwise.is_empty() {
            steps.push(Step::GoTo(0));
        }
        let second = steps.len();
        self.steps(otherwise, operation, depth + 1, names, steps)?;
        let end = steps.len();
        if !otherwise.is_empty() {
            steps[jump] = Step::GoTo(end);
        }
        if let Step::Unless { to, .. } | Step::When { to, .. } = &mut steps[branch] {
            *to = second;
        }
        Ok(())
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
                Value::Drawn { low: *low, n, chooser: self.chooser(distribution, *low, n, None) }
            }
            spec::Value::Key { key_space, distribution } => {
                let space = self.space(key_space)?;
                let spec::KeySpace { first, records, .. } = self.spaces[space];
                let chooser = self.chooser(distribution, first, records, Some(space));
                Value::Key { space, chooser }
            }
            spec::Value::NextKey { key_space } => Value::NextKey { space: self.space(key_space)? },
            spec::Value::Row {} => Value::Row,
            spec::Value::Variable { name } => {
                let Named { slot, kind, nullable } = names.find(name)?;
                Value::Variable { slot, kind, nullable }
            }
            spec::Value::Sum { of, plus } => {
                Value::Sum { of: Box::new(self.whole_number("sum", of, names)?), plus: *plus }
            }
            spec::Value::FnvHash { of } => {
                Value::FnvHash(Box::new(self.whole_number("fnv_hash", of, names)?))
            }
            spec::Value::Format { template, of } => self.format(template, of, names)?,
            spec::Value::Text { length, most, alphabet } => Value::RandomText {
                length: *length as usize,
                most: most.unwrap_or(*length) as usize,
                alphabet: *alphabet,
            },
            spec::Value::Pattern { pattern } => Value::Pattern(pattern.as_bytes().into()),
            spec::Value::Column { values } => self.column(values)?,
            spec::Value::Expression { of } => Value::Expression(expression(of, names)?),
            spec::Value::If { condition, then, otherwise } => {
                let condition = expression(condition, names)?;
                let sides = [self.value(then, names)?, self.value(otherwise, names)?];
                let kind = common_kind(&sides)?;
                Value::If { condition, sides: Box::new(sides), kind }
            }
            spec::Value::Weighted { weights, of } => self.weighted(weights, of, names)?,
            spec::Value::Decimal { of, scale } => {
                if *scale > 18 {
                    return Err(EngineError::spec("decimal: at most 18 digits after the point"));
                }
                Value::Decimal {
                    of: Box::new(self.whole_number("decimal", of, names)?),
                    scale: *scale,
                }
            }
            spec::Value::LastName { of } => {
                Value::LastName(Box::new(self.whole_number("last_name", of, names)?))
            }
        })
    }

    fn weighted(
        &mut self,
        weights: &[f64],
        of: &[spec::Value],
        names: &Names,
    ) -> Result<Value, EngineError> {
        let mut total = 0.0;
        let cumulative: Box<[f64]> = weights
            .iter()
            .map(|weight| {
                total += weight;
                total
            })
            .collect();
        let valid = weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
        if !valid || total <= 0.0 || weights.len() != of.len() {
            let message = "weighted: needs a weight for each value, 0 or more, and one above 0";
            return Err(EngineError::spec(message));
        }
        let of: Box<[Value]> =
            of.iter().map(|value| self.value(value, names)).collect::<Result<_, _>>()?;
        let kind = common_kind(&of)?;
        Ok(Value::Weighted { cumulative, of, kind })
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
        let chooser = self.chooser(&Distribution::Sequential {}, 0, values.len() as u64, None);
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

/// The kind of values one of which is drawn: that of all that are not null.
fn common_kind(values: &[Value]) -> Result<Kind, EngineError> {
    let mut kinds = values.iter().map(Value::kind).filter(|kind| *kind != Kind::Null);
    let kind = kinds.next().unwrap_or(Kind::Null);
    if kinds.all(|other| other == kind) {
        return Ok(kind);
    }
    Err(EngineError::spec("the values to choose from are of several kinds"))
}

/// Whether a statement begins or ends transactions or changes the session: what a server does not
/// count among statements, by the same words (plimsoll/databases/postgres/counters.py).
fn is_uncounted(sql: &str) -> bool {
    let word = sql.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    let transaction =
        ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"];
    let session = ["SET", "RESET", "SHOW", "DISCARD", "DEALLOCATE"];
    transaction.iter().chain(&session).any(|one| word.eq_ignore_ascii_case(one))
}

/// Refuses steps in which it is not certain that anything is sent.
fn check_steps(operation: &spec::Operation) -> Result<(), EngineError> {
    /// Whether a statement is sent, whatever the conditions say.
    fn sends(steps: &[spec::Step]) -> bool {
        steps.iter().any(|step| match step {
            spec::Step::Send { .. } => true,
            spec::Step::If { then, otherwise, .. } | spec::Step::When { then, otherwise, .. } => {
                sends(then) && sends(otherwise)
            }
            _ => false,
        })
    }
    let returns = operation.statements.iter().any(|each| !each.returns.is_empty());
    if returns && operation.steps.is_empty() {
        return Err(EngineError::spec("a statement that returns variables needs steps"));
    }
    if operation.max_tries == 0 {
        return Err(EngineError::spec("max_tries is 0: allowed is 1 and more"));
    }
    for (name, seconds) in [("keying_s", operation.keying_s), ("think_s", operation.think_s)] {
        if !(0.0..=3_600.0).contains(&seconds) {
            let message = format!("{name} is {seconds}: allowed are 0 to 3,600");
            return Err(EngineError::spec(message));
        }
    }
    if operation.transaction || operation.steps.is_empty() {
        return Ok(());
    }
    if !sends(&operation.steps) {
        return Err(EngineError::spec("without a transaction, a statement is sent in any case"));
    }
    Ok(())
}

/// The names that steps set.
fn list_set<'a>(steps: &'a [spec::Step], set: &mut HashSet<&'a str>) {
    for step in steps {
        match step {
            spec::Step::Set { name, .. } => {
                set.insert(name);
            }
            spec::Step::When { then, otherwise, .. } | spec::Step::If { then, otherwise, .. } => {
                list_set(then, set);
                list_set(otherwise, set);
            }
            spec::Step::Repeat { steps, .. } | spec::Step::Each { steps, .. } => {
                list_set(steps, set);
            }
            _ => {}
        }
    }
}

/// Compiles the formula of a script's command; refuses one that can never be computed.
fn formula_at(
    declared: &spec::Formula,
    place: &str,
    names: &Names,
) -> Result<Formula, EngineError> {
    let compiled = formula(declared, names).map_err(|error| error.context(place))?;
    match compiled.certain_mistake() {
        Some(mistake) => Err(EngineError::spec(format!("{place}: {mistake}"))),
        None => Ok(compiled),
    }
}

fn formula(declared: &spec::Formula, names: &Names) -> Result<Formula, EngineError> {
    Ok(match declared {
        spec::Formula::Constant { value } => Formula::Constant(*value),
        spec::Formula::Variable { name } => match names.constant.get(name) {
            Some(text) => Formula::Constant(read_text(text, name).map_err(EngineError::spec)?),
            None => {
                let slot = names.find(name)?.slot;
                Formula::Variable { slot, name: name.as_str().into() }
            }
        },
        spec::Formula::Call { function, of } => {
            let fits = match function {
                FormulaFunction::Pi => of.is_empty(),
                FormulaFunction::Greatest | FormulaFunction::Least => {
                    (1..=MOST_VALUES).contains(&of.len())
                }
                FormulaFunction::Case => of.len() % 2 == 1,
                FormulaFunction::Permute
                | FormulaFunction::RandomExponential
                | FormulaFunction::RandomGaussian
                | FormulaFunction::RandomZipfian => of.len() == 3,
                FormulaFunction::Not
                | FormulaFunction::Abs
                | FormulaFunction::Double
                | FormulaFunction::Exp
                | FormulaFunction::Int
                | FormulaFunction::Ln
                | FormulaFunction::Sqrt => of.len() == 1,
                _ => of.len() == 2,
            };
            if !fits {
                let message = format!("{function:?} does not take {} values", of.len());
                return Err(EngineError::spec(message));
            }
            let of = of.iter().map(|part| formula(part, names)).collect::<Result<_, _>>()?;
            Formula::call(*function, of)
        }
    })
}

fn expression(declared: &spec::Expression, names: &Names) -> Result<Expression, EngineError> {
    let texts = |of: &[spec::Expression]| of.iter().any(|each| is_text(each, names));
    Ok(match declared {
        spec::Expression::Number { value } => Expression::Number(*value),
        spec::Expression::Row {} => Expression::Row,
        spec::Expression::Variable { name } if !is_text(declared, names) => {
            Expression::Variable(names.find(name)?.slot)
        }
        spec::Expression::Variable { name: text } | spec::Expression::Text { value: text } => {
            let message = format!("{text:?} is text: it is only compared with another, by =");
            return Err(EngineError::spec(message));
        }
        spec::Expression::Call { function: Function::IsNull, of } => match of.as_slice() {
            [spec::Expression::Variable { name }] => Expression::IsNull(names.find(name)?.slot),
            _ => return Err(EngineError::spec("is_null takes a variable")),
        },
        spec::Expression::Call { function: Function::Equal, of } if texts(of) => {
            match of.as_slice() {
                [spec::Expression::Variable { name }, spec::Expression::Text { value }]
                    if is_text(&of[0], names) =>
                {
                    Expression::IsText(names.find(name)?.slot, value.as_bytes().into())
                }
                _ => return Err(EngineError::spec("= compares a variable with a text in quotes")),
            }
        }
        spec::Expression::Call { function, of } => {
            let wanted = match function {
                Function::Not | Function::Hash | Function::IsNull => 1,
                Function::If => 3,
                _ => 2,
            };
            if of.len() != wanted {
                let message = format!("{function:?} takes {wanted} values, not {}", of.len());
                return Err(EngineError::spec(message));
            }
            let of = of.iter().map(|each| expression(each, names)).collect::<Result<_, _>>()?;
            Expression::Call(*function, of)
        }
    })
}

fn is_text(declared: &spec::Expression, names: &Names) -> bool {
    match declared {
        spec::Expression::Text { .. } => true,
        spec::Expression::Variable { name } => {
            names.known.get(name).is_some_and(|named| named.kind == Kind::Text)
        }
        _ => false,
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

/// Compiles a formula outside any operation, with what its variables hold.
pub fn compile_formula(
    declared: &spec::Formula,
    variables: &[spec::SessionVariable],
) -> Result<Formula, EngineError> {
    let names = Program::default().session_names(variables, &[]);
    formula_at(declared, "formula", &names)
}
