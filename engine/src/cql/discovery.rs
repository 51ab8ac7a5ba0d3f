//! Asks a cluster for its nodes and their tokens, and chooses which of them a load goes to.
//!
//! What the tables say comes from a server that may say anything. The load goes to the address that
//! answered, and of the peers only to those on the same port, in the same data center, and within the
//! networks that the target allows.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::codes;
use super::frames::opcode;
use super::login::Channel;
use super::request;
use super::rows::{self, Row};
use crate::error::EngineError;
use crate::load::cluster::Cluster;
use crate::load::ring::{Member, Replication, Ring};
use crate::session::connect::{Opener, lost};
use crate::spec::Network;

const LOCAL: &str = "SELECT data_center, rack, tokens, partitioner FROM system.local";
const PEERS: &str =
    "SELECT data_center, rack, tokens, native_address, native_port FROM system.peers_v2";
/// The tables of peers before Cassandra 4.0.
const OLD_PEERS: &str = "SELECT data_center, rack, tokens, rpc_address FROM system.peers";
const PARTITIONER: &str = "Murmur3Partitioner";
/// More than any cluster has that is loaded from one machine; each costs connections.
const MOST_NODES: usize = 100;

/// A node that a server tells of.
struct Peer<'a> {
    data_center: &'a str,
    rack: &'a str,
    tokens: Vec<i64>,
    address: Option<SocketAddr>,
}

/// The nodes behind a target, and their ring.
pub fn cluster(opener: Opener) -> Result<Cluster, EngineError> {
    let limit = Duration::from_millis(opener.target.login_timeout_ms.into());
    let deadline = Instant::now() + limit;
    let stream = opener.reach(deadline)?;
    let contact = stream.peer_addr().map_err(lost)?;
    let mut channel = Channel::start(&opener, stream, deadline)?;
    let local = ask(&mut channel, LOCAL)?;
    let (here, hashes) = local_node(&local, contact).ok_or_else(|| unreadable("system.local"))?;
    let (peers, old) = match ask(&mut channel, PEERS) {
        Err(error) if error.code == codes::name(codes::INVALID) => {
            (ask(&mut channel, OLD_PEERS)?, true)
        }
        peers => (peers?, false),
    };
    let peers = if old { old_peers(&peers, contact) } else { new_peers(&peers) };
    let peers = peers.ok_or_else(|| unreadable("the table of its peers"))?;
    let replication = replication(&mut channel, &opener.target.database, here.data_center)?;
    let (addresses, mut members) = members(&here, &peers, contact, &opener.target.nodes)?;
    if !hashes {
        members.iter_mut().for_each(|member| member.tokens.clear()); // its tokens are not ours
    }
    let ring = Ring::new(&members, addresses.len(), replication);
    let openers = addresses.into_iter().map(|address| opener.at(address)).collect();
    Ok(Cluster { openers, ring: Some(Arc::new(ring)) })
}

fn ask(channel: &mut Channel, text: &str) -> Result<Vec<u8>, EngineError> {
    request::query(text, &mut channel.out);
    Ok(channel.ask()?.expect(opcode::RESULT)?.to_vec())
}

fn unreadable(what: &str) -> EngineError {
    EngineError::protocol(format!("the server's answer about {what} cannot be read"))
}

/// The node that answers, and whether its ring is of the tokens that are known here.
fn local_node(body: &[u8], contact: SocketAddr) -> Option<(Peer<'_>, bool)> {
    let rows: Vec<Row<'_, 4>> = rows::read(body)?;
    let [data_center, rack, tokens, partitioner] = rows.first()?;
    let partitioner = rows::text(*partitioner)?;
    let node = peer([*data_center, *rack, *tokens], Some(contact))?;
    Some((node, partitioner.ends_with(PARTITIONER)))
}

fn new_peers(body: &[u8]) -> Option<Vec<Peer<'_>>> {
    let peers = rows::read::<5>(body)?.into_iter().filter_map(|row| {
        let [data_center, rack, tokens, address, port] = row;
        let port = rows::int(port).and_then(|port| u16::try_from(port).ok());
        let address = rows::address(address).zip(port).map(SocketAddr::from);
        peer([data_center, rack, tokens], address)
    });
    Some(peers.collect())
}

/// They have no port: all nodes use the same one.
fn old_peers(body: &[u8], contact: SocketAddr) -> Option<Vec<Peer<'_>>> {
    let peers = rows::read::<4>(body)?.into_iter().filter_map(|row| {
        let [data_center, rack, tokens, address] = row;
        let address = rows::address(address).map(|address| (address, contact.port()).into());
        peer([data_center, rack, tokens], address)
    });
    Some(peers.collect())
}

/// None if it is not in the ring, or not yet.
fn peer<'a>(
    [data_center, rack, tokens]: Row<'a, 3>,
    address: Option<SocketAddr>,
) -> Option<Peer<'a>> {
    let tokens = rows::texts(tokens, 1).into_iter().filter_map(|token| token.parse().ok());
    Some(Peer {
        data_center: rows::text(data_center)?,
        rack: rows::text(rack)?,
        tokens: tokens.collect(),
        address,
    })
}

/// Where the load goes, the node that answered first, and the ring's members.
fn members(
    here: &Peer<'_>,
    peers: &[Peer<'_>],
    contact: SocketAddr,
    allowed: &[Network],
) -> Result<(Vec<SocketAddr>, Vec<Member>), EngineError> {
    let member = |peer: &Peer<'_>, node| Member {
        node,
        rack: peer.rack.to_owned(),
        tokens: peer.tokens.clone(),
    };
    let mut addresses = vec![contact];
    let mut members = vec![member(here, Some(0))];
    for peer in peers.iter().filter(|peer| peer.data_center == here.data_center) {
        let address = peer.address.filter(|address| may_load(*address, contact, allowed));
        if address.is_some_and(|address| addresses.contains(&address)) {
            continue; // told twice
        }
        if addresses.len() == MOST_NODES && address.is_some() {
            let message = format!("its ring has more than {MOST_NODES} nodes within `nodes`");
            return Err(EngineError::new("protocol", message));
        }
        members.push(member(peer, address.map(|_| addresses.len())));
        addresses.extend(address);
    }
    Ok((addresses, members))
}

/// Whether a peer's address is one that the target's own permission covers.
fn may_load(address: SocketAddr, contact: SocketAddr, allowed: &[Network]) -> bool {
    let ip = address.ip();
    address.port() == contact.port()
        && ip.is_loopback() == contact.ip().is_loopback()
        && allowed.iter().any(|network| network.contains(ip))
}

/// How a keyspace's rows are copied in a data center.
fn replication(
    channel: &mut Channel,
    keyspace: &str,
    data_center: &str,
) -> Result<Replication, EngineError> {
    let name = keyspace.replace('\'', "''");
    let text =
        format!("SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = '{name}'");
    let body = ask(channel, &text)?;
    let rows: Vec<Row<'_, 1>> =
        rows::read(&body).ok_or_else(|| unreadable("the keyspace's replication"))?;
    let settings = rows::texts(rows.first().and_then(|[settings]| *settings), 2);
    let setting =
        |name: &str| settings.chunks_exact(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
    let by_rack = setting("class").is_some_and(|class| class.ends_with("NetworkTopologyStrategy"));
    let copies = setting(if by_rack { data_center } else { "replication_factor" });
    let copies = copies.and_then(|copies| copies.parse().ok()).unwrap_or(1);
    Ok(Replication { copies, by_rack })
}
