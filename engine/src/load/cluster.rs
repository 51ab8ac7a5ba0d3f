//! A target of several nodes: how to reach each, and which one an operation goes to.

use std::sync::Arc;

use super::record::Tally;
use super::ring::Ring;
use crate::error::Failure;
use crate::histogram::{self, Summary};
use crate::report::{NodeReport, count_error};
use crate::session::connect::Opener;

/// The nodes that a load goes to.
pub struct Cluster {
    /// How to reach each node.
    pub openers: Vec<Opener>,
    /// None if there is only one node.
    pub ring: Option<Arc<Ring>>,
}

impl Cluster {
    /// A cluster of the target's own address alone.
    pub fn single(opener: Opener) -> Self {
        Cluster { openers: vec![opener], ring: None }
    }

    /// How to reach the node of this index among connections that lie together, one to each node.
    pub fn opener(&self, connection: usize) -> &Opener {
        &self.openers[connection % self.openers.len()]
    }

    /// Reports each node, from the tallies of all threads; nothing for a target with one node.
    pub fn reports<'a>(&self, threads: impl Iterator<Item = &'a [NodeTally]>) -> Vec<NodeReport> {
        let Some(ring) = &self.ring else {
            return Vec::new();
        };
        let mut sums = vec![NodeTally::empty(); self.openers.len()];
        for thread in threads {
            sums.iter_mut().zip(thread).for_each(|(sum, tally)| sum.add(tally));
        }
        let nodes = self.openers.iter().zip(&ring.shares).zip(sums);
        nodes.map(|((opener, &share), sum)| sum.report(opener.address(), share)).collect()
    }

    /// Returns what chooses the nodes for one thread; None if there is one node.
    pub fn router(&self) -> Option<Router> {
        self.ring.clone().map(Router::new)
    }
}

/// What one thread sees of one node.
#[derive(Debug, Clone)]
pub struct NodeTally {
    /// The operations whose last statement went there.
    pub operations: Tally,
    /// Statements that were sent there, warm-up included.
    pub statements: u64,
    /// Statements among them that belonged to a node without a connection.
    pub taken_over: u64,
    /// Number of connections to it that were lost.
    pub lost: u64,
}

impl NodeTally {
    pub fn empty() -> Self {
        NodeTally { operations: Tally::empty(), statements: 0, taken_over: 0, lost: 0 }
    }

    pub fn add(&mut self, other: &NodeTally) {
        self.operations.add(&other.operations);
        self.statements += other.statements;
        self.taken_over += other.taken_over;
        self.lost += other.lost;
    }

    fn report(self, address: String, ring_share: f64) -> NodeReport {
        NodeReport {
            address,
            ring_share,
            succeeded: self.operations.succeeded,
            latency_us: Summary::of(&self.operations.latency),
            histogram: histogram::encode(&self.operations.latency),
            errors: self.operations.errors,
            statements_sent: self.statements,
            taken_over: self.taken_over,
            lost: self.lost,
        }
    }
}

/// Chooses nodes for one thread's statements, and counts what each does. The thread's lines to the
/// nodes lie one after another, for each group of lanes one to each node.
#[derive(Debug)]
pub struct Router {
    ring: Arc<Ring>,
    turn: usize,
    pub nodes: Vec<NodeTally>,
}

impl Router {
    fn new(ring: Arc<Ring>) -> Self {
        let nodes = vec![NodeTally::empty(); ring.shares.len()];
        Router { ring, turn: 0, nodes }
    }

    /// Index of the first of the lines that have the same lanes as this one.
    pub fn first_line(&self, line: usize) -> usize {
        line - line % self.nodes.len()
    }

    /// The tally of the node that a line goes to.
    pub fn node(&mut self, line: usize) -> &mut NodeTally {
        let node = line % self.nodes.len();
        &mut self.nodes[node]
    }

    /// Counts an operation that ended in the window on a line. `latency_ns`: of a success, or the full
    /// length of a time-out.
    pub fn count(&mut self, line: usize, failure: Option<&Failure>, latency_ns: Option<u64>) {
        let tally = &mut self.node(line).operations;
        match failure {
            None => tally.succeeded += 1,
            Some(failure) => count_error(&mut tally.errors, &failure.code),
        }
        if let Some(ns) = latency_ns {
            histogram::record_ns(&mut tally.latency, ns);
        }
    }

    /// Chooses the node for the next statement, and counts the statement: the nodes that have the
    /// partition's rows take turns, then any other. `open`: whether there is a connection to a node.
    /// None if there is a connection to none.
    pub fn choose(&mut self, token: Option<i64>, open: impl Fn(usize) -> bool) -> Option<usize> {
        self.turn = self.turn.wrapping_add(1);
        let all = self.nodes.len();
        let replicas = token.map_or(&[][..], |token| self.ring.replicas(token));
        let in_turn = |step: usize, of: usize| self.turn.wrapping_add(step) % of;
        let wanted = (0..replicas.len()).map(|step| replicas[in_turn(step, replicas.len())]);
        let any = (0..all).map(|step| in_turn(step, all));
        let (step, node) = wanted.chain(any).enumerate().find(|(_, node)| open(*node))?;
        let tally = &mut self.nodes[node];
        tally.statements += 1;
        tally.taken_over += u64::from(step > 0);
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::ring::{Member, Replication};

    fn router(copies: usize) -> Router {
        let member = |node: usize| Member {
            node: Some(node),
            tokens: vec![10 * node as i64],
            ..Member::default()
        };
        let members: Vec<Member> = (0..3).map(member).collect();
        Router::new(Arc::new(Ring::new(&members, 3, Replication { copies, by_rack: false })))
    }

    #[test]
    fn those_that_have_the_rows_take_turns() {
        let mut router = router(2);
        let chosen: Vec<_> = (0..4).map(|_| router.choose(Some(5), |_| true)).collect();
        assert_eq!(chosen, [Some(2), Some(1), Some(2), Some(1)]);
        assert!(router.nodes.iter().all(|node| node.taken_over == 0));
    }

    #[test]
    fn another_takes_over_where_there_is_no_connection() {
        let mut router = router(1);
        assert_eq!(router.choose(Some(5), |node| node != 1), Some(2));
        assert_eq!(router.choose(Some(5), |node| node == 0), Some(0));
        assert_eq!(router.choose(Some(5), |_| false), None);
        let taken: Vec<u64> = router.nodes.iter().map(|node| node.taken_over).collect();
        assert_eq!(taken, [1, 0, 1]);
    }

    #[test]
    fn what_has_no_token_goes_to_each_in_its_turn() {
        let mut router = router(1);
        let chosen: Vec<_> = (0..4).map(|_| router.choose(None, |_| true)).collect();
        assert_eq!(chosen, [Some(1), Some(2), Some(0), Some(1)]);
        let statements: Vec<u64> = router.nodes.iter().map(|node| node.statements).collect();
        assert_eq!(statements, [1, 2, 1]);
    }
}
