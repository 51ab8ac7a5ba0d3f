//! Expressions over whole numbers, and conditions.

use super::values::{Drawing, Variable};
use super::zipf::fnv_hash;
use crate::spec::Function;

/// An expression with every name resolved to a variable's index.
#[derive(Debug, Clone)]
pub enum Expression {
    Number(i64),
    Row,
    Variable(usize),
    IsNull(usize),
    /// Whether a variable holds this text.
    IsText(usize, Box<[u8]>),
    Call(Function, Box<[Expression]>),
}

impl Expression {
    /// Computes it. A variable that holds no whole number counts as 0.
    pub fn compute(&self, drawing: &mut Drawing) -> i64 {
        match self {
            Expression::Number(value) => *value,
            Expression::Row => drawing.row(),
            Expression::Variable(slot) => match &drawing.variables[*slot] {
                Variable::Integer(value) => *value,
                _ => 0,
            },
            Expression::IsNull(slot) => i64::from(drawing.variables[*slot] == Variable::Null),
            Expression::IsText(slot, text) => {
                i64::from(matches!(&drawing.variables[*slot], Variable::Text(is) if **is == **text))
            }
            Expression::Call(function, of) => call(*function, of, drawing),
        }
    }

    pub fn holds(&self, drawing: &mut Drawing) -> bool {
        self.compute(drawing) != 0
    }
}

fn call(function: Function, of: &[Expression], drawing: &mut Drawing) -> i64 {
    let mut at = |index: usize| of[index].compute(drawing);
    let truth = i64::from;
    match function {
        Function::Add => at(0).wrapping_add(at(1)),
        Function::Subtract => at(0).wrapping_sub(at(1)),
        Function::Multiply => at(0).wrapping_mul(at(1)),
        Function::Divide => floor_divide(at(0), at(1)),
        Function::Remainder => {
            let (number, by) = (at(0), at(1));
            number.wrapping_sub(floor_divide(number, by).wrapping_mul(by)) * truth(by != 0)
        }
        Function::Equal => truth(at(0) == at(1)),
        Function::Different => truth(at(0) != at(1)),
        Function::Less => truth(at(0) < at(1)),
        Function::AtMost => truth(at(0) <= at(1)),
        Function::And => truth(at(0) != 0 && at(1) != 0),
        Function::Or => truth(at(0) != 0 || at(1) != 0),
        Function::Not => truth(at(0) == 0),
        Function::IsNull => 0, // a number never is; `Expression::IsNull` asks of a variable
        Function::If => {
            let chosen = if at(0) != 0 { 1 } else { 2 };
            at(chosen)
        }
        Function::Hash => fnv_hash(at(0) as u64) as i64,
        Function::Bit => match at(1) {
            place @ 1..=63 => at(0) >> (place - 1) & 1,
            _ => 0,
        },
        Function::Random => {
            let (low, high) = (at(0), at(1));
            let n = high.wrapping_sub(low).max(0) as u64 + 1;
            low.wrapping_add(drawing.rng.below(n) as i64)
        }
        Function::Bits => {
            let (bits, one_in) = (at(0).clamp(0, 63), at(1).max(1) as u64);
            (0..bits).map(|bit| truth(drawing.rng.below(one_in) == 0) << bit).sum()
        }
    }
}

fn floor_divide(number: i64, by: i64) -> i64 {
    if by == 0 {
        return 0;
    }
    let quotient = number.wrapping_div(by);
    quotient - i64::from(number.wrapping_rem(by) != 0 && (number < 0) != (by < 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::rng::Rng;

    fn compute(function: Function, of: &[i64]) -> i64 {
        let of = of.iter().map(|number| Expression::Number(*number)).collect();
        Expression::Call(function, of).compute(&mut Drawing::new(Rng::for_stream(1, &[])))
    }

    #[test]
    fn division_rounds_down_and_by_zero_is_zero() {
        for (number, by) in [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3)] {
            let (quotient, rest) = (
                compute(Function::Divide, &[number, by]),
                compute(Function::Remainder, &[number, by]),
            );
            assert_eq!(quotient, (number as f64 / by as f64).floor() as i64, "{number} / {by}");
            assert_eq!(quotient * by + rest, number, "{number} % {by}");
        }
        assert_eq!(compute(Function::Divide, &[7, 0]), 0);
        assert_eq!(compute(Function::Remainder, &[7, 0]), 0);
        assert_eq!(compute(Function::Divide, &[i64::MIN, -1]), i64::MIN);
    }

    #[test]
    fn a_choice_computes_one_side_and_bits_are_counted_from_one() {
        assert_eq!(compute(Function::If, &[1, 5, 6]), 5);
        assert_eq!(compute(Function::If, &[0, 5, 6]), 6);
        let bits: Vec<i64> = (0..=4).map(|place| compute(Function::Bit, &[5, place])).collect();
        assert_eq!(bits, [0, 1, 0, 1, 0]);
        assert_eq!(compute(Function::Bits, &[4, 1]), 15);
        assert_eq!(compute(Function::Random, &[9, 3]), 9);
    }
}
