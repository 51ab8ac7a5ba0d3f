//! What a worker does where its target has several nodes: each lane has a line to every one of them,
//! and a request goes out on that of the node that has its rows.

use super::cluster::Router;
use super::lane::State;
use super::wire::{Standing, Wire};
use super::worker::Worker;
use crate::error::Failure;
use crate::histogram;
use crate::report::count_error;

impl<W: Wire> Worker<'_, W> {
    /// The line on which what a lane has just appended goes out.
    #[inline]
    pub(super) fn route(&mut self, index: usize) -> usize {
        let from = self.lanes[index].line;
        if !W::ROUTES || self.router.is_none() {
            return from;
        }
        self.route_among_nodes(index, from)
    }

    fn route_among_nodes(&mut self, index: usize, from: usize) -> usize {
        let Worker { router: Some(router), lines, lanes, .. } = self else {
            return from;
        };
        let lane = &mut lanes[index];
        let slot = lane.slot;
        let first = first_line(router, from);
        let token = lines[from].wire.token(slot);
        let open = |node: usize| lines[first + node].standing == Standing::Open;
        let to = router.choose(token, open).map_or(from, |node| first + node);
        if let Ok([from, to]) = lines.get_disjoint_mut([from, to]) {
            from.wire.hand_over(slot, &mut to.wire);
        }
        lane.line = to;
        to
    }

    /// A node's connection is lost: its lanes go on with the other nodes, where there is a connection
    /// to one; else they are away.
    #[cold]
    pub(super) fn go_elsewhere(&mut self, line: usize, now: u64) {
        let Some(router) = &mut self.router else {
            return;
        };
        let first = first_line(router, line);
        let nodes = router.nodes.len();
        router.nodes[line - first].lost += 1;
        let elsewhere =
            self.lines[first..first + nodes].iter().any(|line| line.standing == Standing::Open);
        for index in self.lines[line].lanes.clone() {
            match self.lanes[index].state {
                State::Away if elsewhere => {
                    self.lanes[index].state = State::Idle;
                    self.go_on(index, now);
                }
                State::Idle if !elsewhere => self.lanes[index].state = State::Away,
                _ => {}
            }
        }
    }

    /// Counts an operation's success for the node that it went to.
    #[inline]
    pub(super) fn count_success(&mut self, index: usize, latency_ns: u64, at: u64) {
        if W::ROUTES && self.router.is_some() {
            self.count_for_node(index, None, Some(latency_ns), at);
        }
    }

    /// Records an operation that failed, also for the node that it went to. `latency_ns`: of a
    /// time-out, its full length.
    #[cold]
    pub(super) fn record_failure(
        &mut self,
        index: usize,
        failure: &Failure,
        latency_ns: Option<u64>,
        at: u64,
    ) {
        self.recorder.failure(self.lanes[index].operation(), failure, latency_ns, at);
        self.count_for_node(index, Some(failure), latency_ns, at);
    }

    fn count_for_node(
        &mut self,
        index: usize,
        failure: Option<&Failure>,
        latency_ns: Option<u64>,
        at: u64,
    ) {
        let line = self.lanes[index].line;
        let Some(router) = self.router.as_mut().filter(|_| self.shared.window.contains(at)) else {
            return;
        };
        let node = line - first_line(router, line);
        let tally = &mut router.nodes[node].operations;
        match failure {
            None => tally.succeeded += 1,
            Some(failure) => count_error(&mut tally.errors, &failure.code),
        }
        if let Some(ns) = latency_ns {
            histogram::record_ns(&mut tally.latency, ns);
        }
    }
}

/// The lines of the same lanes to all nodes lie one after another: the first of them.
fn first_line(router: &Router, line: usize) -> usize {
    line - line % router.nodes.len()
}
