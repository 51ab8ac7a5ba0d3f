//! Lines that an operation draws once, such as those of an order.

use super::values::{Drawing, Scope, Value, Variable};

/// How often a line is drawn whose key another line has; the last draw stays.
const MOST_DRAWS: usize = 1_000;

/// The variables of a list stand together: first those of the current line, then those of each
/// line. The first variable of a line is its number.
#[derive(Debug, Clone)]
pub struct List {
    pub count: Value,
    /// The variable that keeps how many lines there are.
    pub counted: usize,
    pub least: usize,
    pub most: usize,
    /// The current line's first variable.
    pub slot: usize,
    /// How many variables a line has.
    pub width: usize,
    /// The current line's variables with what they are drawn from.
    pub lets: Vec<(usize, Value)>,
    /// The current line's variable by which lines are sorted and found.
    pub key: usize,
}

impl List {
    /// Draws all lines, and puts them in the order of their keys.
    pub fn draw(&self, drawing: &mut Drawing, scope: &mut Scope) {
        let count = self.count.integer(drawing, scope).clamp(self.least as i64, self.most as i64);
        drawing.variables[self.counted] = Variable::Integer(count);
        for line in 1..=count as usize {
            drawing.variables[self.slot] = Variable::Integer(line as i64);
            for _ in 0..MOST_DRAWS {
                for (slot, value) in &self.lets {
                    value.keep(*slot, drawing, scope);
                }
                if !self.repeats_key(line, &drawing.variables) {
                    break;
                }
            }
            self.swap(line, &mut drawing.variables);
            self.sort_in(line, &mut drawing.variables);
        }
    }

    /// How many lines there are.
    pub fn lines(&self, drawing: &Drawing) -> usize {
        drawing.variables[self.counted].whole_number() as usize
    }

    /// Exchanges the current line with this one, from 1.
    pub fn swap(&self, line: usize, variables: &mut [Variable]) {
        for slot in self.slot..self.slot + self.width {
            variables.swap(slot, slot + line * self.width);
        }
    }

    /// The number of the line with this key.
    pub fn find(&self, key: &Variable, variables: &[Variable]) -> Option<usize> {
        let mut lines = 1..=variables[self.counted].whole_number() as usize;
        lines.find(|line| variables[self.key + line * self.width] == *key)
    }

    /// Whether a line before this one has the current line's key.
    fn repeats_key(&self, line: usize, variables: &[Variable]) -> bool {
        let drawn = self.key_of(0, variables);
        (1..line).any(|each| self.key_of(each, variables) == drawn)
    }

    fn key_of(&self, line: usize, variables: &[Variable]) -> i64 {
        variables[self.key + line * self.width].whole_number()
    }

    /// Moves the last line to its place among those before it; numbers stay where they are.
    fn sort_in(&self, last: usize, variables: &mut [Variable]) {
        for line in (2..=last).rev() {
            if self.key_of(line - 1, variables) <= self.key_of(line, variables) {
                return;
            }
            let first = self.slot + line * self.width;
            for place in first + 1..first + self.width {
                variables.swap(place, place - self.width);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::generators::chooser::Share;
    use crate::generators::program::Program;
    use crate::generators::rng::Rng;

    /// A program whose operation draws lines, each with a number `id` up to `high` and `id` + 1,000.
    fn program(high: i64) -> Program {
        let workload = json!({"key_spaces": [], "operations": [{
            "name": "order", "weight": 1.0, "statements": [{"sql": ["SELECT 1"]}],
            "lists": [{
                "name": "line", "least": 5, "most": 15, "key": "id",
                "count": {"kind": "integer", "low": 5, "high": 15},
                "let": [
                    {"name": "id", "value": {"kind": "integer", "low": 1, "high": high}},
                    {"name": "more", "value": {
                        "kind": "sum", "of": {"kind": "variable", "name": "id"}, "plus": 1000}},
                ],
            }],
        }]});
        let workload = serde_json::from_value(workload).expect("a workload");
        Program::new(&workload).expect("it compiles")
    }

    /// The lines of this many operations: number, `id`, and `id` + 1,000 of each.
    fn draw(program: &Program, operations: usize) -> Vec<Vec<[i64; 3]>> {
        let operation = &program.operations[0];
        let list = &operation.lists[0];
        let mut drawing = Drawing::new(Rng::for_stream(7, &[]));
        let mut scope = program.scope(Share::WHOLE, Share::WHOLE, 0).expect("a scope");
        let mut drawn = || {
            operation.begin(&mut drawing, &mut scope);
            let of_line = |line: usize| {
                let first = list.slot + line * list.width;
                [0, 1, 2].map(|place| drawing.variables[first + place].whole_number())
            };
            (1..=list.lines(&drawing)).map(of_line).collect()
        };
        (0..operations).map(|_| drawn()).collect()
    }

    #[test]
    fn lines_are_numbered_in_the_order_of_their_keys_which_are_distinct() {
        let orders = draw(&program(20), 500);
        for lines in &orders {
            for (index, [number, id, more]) in lines.iter().enumerate() {
                assert_eq!((*number, *more), (index as i64 + 1, id + 1000));
            }
            assert!(lines.windows(2).all(|pair| pair[0][1] < pair[1][1]), "{lines:?}");
        }
        let mut counts: Vec<usize> = orders.iter().map(Vec::len).collect();
        counts.sort_unstable();
        counts.dedup();
        assert_eq!(counts, (5..=15).collect::<Vec<_>>());
    }

    #[test]
    fn a_key_that_no_draw_makes_distinct_is_repeated() {
        let orders = draw(&program(3), 3);
        let ids = |lines: &Vec<[i64; 3]>| lines.iter().map(|line| line[1]).collect::<Vec<_>>();
        assert!(orders.iter().map(ids).all(|ids| ids.is_sorted() && ids.len() >= 5));
    }
}
