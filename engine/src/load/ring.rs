//! Which nodes of a cluster hold which rows, by the tokens of their partitions.

use std::collections::BTreeSet;

/// So many ranges are looked at for one range's copies: a ring that any server may describe costs no
/// more than that.
const LONGEST_WALK: usize = 1_024;

/// A node as its cluster tells of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Member {
    /// Its index among the nodes that the load goes to; None if it is not one of them.
    pub node: Option<usize>,
    pub rack: String,
    /// Each range of rows ends at one, and includes it.
    pub tokens: Vec<i64>,
}

/// How many members have a copy of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replication {
    pub copies: usize,
    /// The copies are in as many racks as there are (`NetworkTopologyStrategy`).
    pub by_rack: bool,
}

/// The members' ranges, and who of the load's nodes has the rows of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Ring {
    /// The ranges' ends, ascending.
    ends: Vec<i64>,
    /// For each range, the nodes that have copies; the one whose token it is comes first.
    replicas: Vec<Vec<usize>>,
    /// For each node, its share of all tokens: each range is divided evenly between its copies.
    pub shares: Vec<f64>,
}

impl Ring {
    /// The ring of these members; `nodes`: how many of them the load goes to.
    pub fn new(members: &[Member], nodes: usize, replication: Replication) -> Self {
        let mut tokens: Vec<(i64, usize)> = members
            .iter()
            .enumerate()
            .flat_map(|(index, member)| member.tokens.iter().map(move |&token| (token, index)))
            .collect();
        tokens.sort_unstable();
        tokens.dedup_by_key(|(token, _)| *token);
        let owners: Vec<usize> = tokens.iter().map(|(_, member)| *member).collect();
        let walk = Walk::new(members, replication);
        let replicas: Vec<Vec<usize>> = (0..owners.len())
            .map(|at| {
                let turned = owners[at..].iter().chain(&owners[..at]).copied();
                walk.copies(turned).into_iter().filter_map(|index| members[index].node).collect()
            })
            .collect();
        let ends: Vec<i64> = tokens.into_iter().map(|(token, _)| token).collect();
        let shares = shares(&ends, &replicas, nodes);
        Ring { ends, replicas, shares }
    }

    /// The nodes that have a partition's rows; none where no node of the load has.
    pub fn replicas(&self, token: i64) -> &[usize] {
        let at = self.ends.partition_point(|&end| end < token);
        self.replicas.get(at).or(self.replicas.first()).map_or(&[], Vec::as_slice)
    }
}

/// Finds a range's copies among the members that follow it on the ring.
struct Walk<'a> {
    members: &'a [Member],
    copies: usize,
    /// How many racks there are; 0 where they make no difference.
    racks: usize,
}

impl<'a> Walk<'a> {
    fn new(members: &'a [Member], replication: Replication) -> Self {
        let with_tokens = || members.iter().filter(|member| !member.tokens.is_empty());
        let racks: BTreeSet<&str> = with_tokens().map(|member| member.rack.as_str()).collect();
        let copies = replication.copies.clamp(1, with_tokens().count().max(1));
        Walk { members, copies, racks: if replication.by_rack { racks.len() } else { 0 } }
    }

    /// The members with copies, in the order of the ring. One in a rack that has a copy already waits
    /// until every rack has one.
    fn copies(&self, owners: impl Iterator<Item = usize>) -> Vec<usize> {
        let (mut copies, mut waiting) = (Vec::new(), Vec::new());
        let mut racks = BTreeSet::new();
        for index in owners.take(LONGEST_WALK) {
            if copies.len() == self.copies {
                break;
            }
            if copies.contains(&index) || waiting.contains(&index) {
                continue;
            }
            if racks.len() < self.racks && !racks.insert(self.members[index].rack.as_str()) {
                waiting.push(index);
                continue;
            }
            copies.push(index);
            if racks.len() == self.racks {
                copies.append(&mut waiting);
                copies.truncate(self.copies);
            }
        }
        copies
    }
}

fn shares(ends: &[i64], replicas: &[Vec<usize>], nodes: usize) -> Vec<f64> {
    let mut shares = vec![0.0; nodes];
    let mut before = ends.last().copied().unwrap_or_default();
    for (&end, replicas) in ends.iter().zip(replicas) {
        let tokens = end.wrapping_sub(before).cast_unsigned();
        let share = if ends.len() == 1 { 1.0 } else { tokens as f64 / 2_f64.powi(64) };
        before = end;
        if replicas.is_empty() {
            shares.iter_mut().for_each(|of_node| *of_node += share / nodes as f64);
        }
        for &node in replicas {
            shares[node] += share / replicas.len() as f64;
        }
    }
    if ends.is_empty() {
        shares.fill(1.0 / nodes as f64);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUARTER: i64 = 1 << 62;

    fn member(node: usize, rack: &str, tokens: &[i64]) -> Member {
        Member { node: Some(node), rack: rack.to_owned(), tokens: tokens.to_vec() }
    }

    fn simple(copies: usize) -> Replication {
        Replication { copies, by_rack: false }
    }

    #[test]
    fn a_range_ends_at_its_owners_token_and_the_last_goes_on_at_the_first() {
        let members = [member(0, "a", &[-QUARTER, QUARTER]), member(1, "a", &[0])];
        let ring = Ring::new(&members, 2, simple(1));
        let owners = [(i64::MIN, 0), (-QUARTER, 0), (1 - QUARTER, 1), (0, 1), (1, 0), (QUARTER, 0)];
        for (token, node) in owners.into_iter().chain([(QUARTER + 1, 0), (i64::MAX, 0)]) {
            assert_eq!(ring.replicas(token), [node], "{token}");
        }
        assert_eq!(ring.shares, [0.75, 0.25]);
    }

    #[test]
    fn copies_are_on_the_next_different_members() {
        let members = [member(0, "a", &[0, 10]), member(1, "a", &[20]), member(2, "a", &[30, 40])];
        let ring = Ring::new(&members, 3, simple(2));
        let replicas = [0, 10, 20, 30, 40].map(|token| ring.replicas(token).to_vec());
        assert_eq!(replicas, [[0, 1], [0, 1], [1, 2], [2, 0], [2, 0]]);
        assert!((ring.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let everywhere = Ring::new(&members, 3, simple(9));
        assert_eq!(everywhere.replicas(25), [2, 0, 1], "no more copies than members");
    }

    #[test]
    fn copies_are_spread_over_the_racks() {
        let members = [
            member(0, "a", &[0]),
            member(1, "a", &[10]),
            member(2, "b", &[20]),
            member(3, "b", &[30]),
        ];
        let by_rack = |copies| Replication { copies, by_rack: true };
        assert_eq!(Ring::new(&members, 4, by_rack(2)).replicas(0), [0, 2]);
        assert_eq!(Ring::new(&members, 4, by_rack(3)).replicas(0), [0, 2, 1]);
        assert_eq!(Ring::new(&members, 4, by_rack(4)).replicas(0), [0, 2, 1, 3]);
    }

    #[test]
    fn what_only_members_out_of_reach_have_is_anybodys() {
        let away = Member { node: None, ..member(0, "a", &[0]) };
        let members = [member(0, "a", &[-QUARTER]), member(1, "a", &[QUARTER]), away];
        let ring = Ring::new(&members, 2, simple(1));
        assert_eq!(ring.replicas(-1), [0_usize; 0]);
        assert_eq!(ring.shares, [0.5 + 0.125, 0.25 + 0.125]);
    }

    #[test]
    fn a_ring_without_tokens_is_everybodys() {
        let ring = Ring::new(&[member(0, "a", &[]), member(1, "a", &[])], 2, simple(1));
        assert_eq!((ring.replicas(7), ring.shares.as_slice()), (&[][..], &[0.5, 0.5][..]));
    }

    #[test]
    fn one_token_is_the_whole_ring() {
        let ring = Ring::new(&[member(0, "a", &[5])], 1, simple(3));
        assert_eq!((ring.replicas(6), ring.shares.as_slice()), (&[0][..], &[1.0][..]));
    }
}
