"""A Cassandra node that is full closes further connections without a word, and answers still."""

from pathlib import Path

import pytest

from plimsoll.databases import cassandra
from plimsoll.databases.prepare import prepare_dataset
from plimsoll.errors import ConnectionsRefusedError
from plimsoll.local.databases.cassandra_server import CassandraServer
from plimsoll.model.engine.asked import LoadSpec
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workflow.client import send_load
from plimsoll.workload import load_workload
from tests.support.patient_cassandra import PATIENT_SETTINGS

ROOM = 6  # of TCP; the engine puts some hundred of a load's connections on each


@pytest.mark.whole  # it starts a node; a full MariaDB and PostgreSQL are in `make test`
def test_a_node_without_room_for_connections(tmp_path: Path) -> None:
    settings = {**PATIENT_SETTINGS, "native_transport_max_concurrent_connections": ROOM}
    with CassandraServer.start(directory=tmp_path / "node", settings=settings) as node:
        target = parse_dsn(node.dsn)
        compiled = load_workload("ycsb-c").compile(100, {}, "cql")
        prepare_dataset(target, compiled, connections=1)
        load = LoadSpec(target=target, workload=compiled.engine, connections=4, duration_s=0.5)
        assert send_load(load).operations["read"].succeeded
        with pytest.raises(ConnectionsRefusedError, match="connections were open"):
            send_load(load.model_copy(update={"connections": 3000}))
        assert cassandra.read_counters(target) is not None
