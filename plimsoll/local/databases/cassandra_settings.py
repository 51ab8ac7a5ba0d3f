"""The configuration of a local Cassandra: its settings file, its log's, and JVM options."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from plimsoll.model.engine.networks import ClusterPlace

HEAP_MIB = 512  # the least with which Cassandra 5.0 loads and compacts without pausing for long

# The settings given to `CassandraServer.start` override these by name. What is not here is
# Cassandra's default.
DEFAULT_SETTINGS: Mapping[str, object] = {
    "cluster_name": "plimsoll",
    "num_tokens": 1,
    "initial_token": "0",
    "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
    "endpoint_snitch": "SimpleSnitch",
    # The emulated volume sees system calls but not I/O through mapped memory. So data files are
    # read by calls, and the commit log is compressed, which writes it by calls.
    "disk_access_mode": "standard",
    "commitlog_compression": [{"class_name": "LZ4Compressor"}],
    "commitlog_sync": "periodic",
    "commitlog_sync_period": "10000ms",
    "commitlog_segment_size": "8MiB",
    "commitlog_total_space": "128MiB",
    # scaled down as the instance's memory is: a dataset of some 100 MiB does not fit
    "file_cache_size": "16MiB",
    "key_cache_size": "8MiB",
    "memtable_heap_space": "64MiB",
    "memtable_offheap_space": "32MiB",
    "concurrent_compactors": 1,
    "auto_snapshot": False,
    "hinted_handoff_enabled": False,
    "user_defined_functions_enabled": False,
}

_JOINING_MS = 60_000  # at most

_LOGBACK = """\
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date{ISO8601} %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
"""

# Cassandra's own conf/jvm17-server.options lists them, for what it reaches inside of Java.
_EXPORTS = (
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/java.lang.ref",
    "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "jdk.attach/sun.tools.attach",
    "jdk.unsupported/sun.misc",
)
_OPENS = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.module",
    "java.base/java.lang.reflect",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.util.jar",
    "java.base/sun.nio.ch",
    "jdk.management/com.sun.management.internal",
)


def write_settings(
    directory: Path,
    *,
    host: str,
    cql_port: int,
    storage_port: int,
    settings: Mapping[str, object],
    seed: str | None = None,
) -> None:
    """Write `cassandra.yaml` and `logback.xml` into the server's folder.

    Args:
        directory: The server's folder.
        host: The node's address.
        cql_port: The port for clients.
        storage_port: The port for other nodes; all nodes of a cluster have the same.
        settings: Settings that override the defaults.
        seed: The address of its cluster's first node; None if it is that node.
    """
    data = directory / "data"
    configuration = {
        **DEFAULT_SETTINGS,
        **settings,
        "listen_address": host,
        "rpc_address": host,
        "native_transport_port": cql_port,
        "storage_port": storage_port,
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": f"{seed or host}:{storage_port}"}],
            }
        ],
        "data_file_directories": [str(data / "data")],
        "commitlog_directory": str(data / "commitlog"),
        "saved_caches_directory": str(data / "saved_caches"),
        "hints_directory": str(data / "hints"),
    }
    (directory / "cassandra.yaml").write_text(yaml.safe_dump(configuration))
    (directory / "logback.xml").write_text(_LOGBACK)


def make_ring_settings(place: ClusterPlace) -> dict[str, object]:
    """Return settings that give a node an equal share of the ring; empty if it is alone.

    It joins before there are rows, so it has none to fetch from the others.
    """
    if place.nodes == 1:
        return {}
    return {
        "num_tokens": 1,
        "initial_token": str(place.token),
        "auto_bootstrap": False,
        # Nodes that share two cores answer late without being down.
        "phi_convict_threshold": 12,
    }


def make_server_command(
    java: Path, jars: Path, directory: Path, *, heap_mib: int, joins: bool = False
) -> list[str | Path]:
    """Return the command that runs the server in the foreground, with all files in its folder."""
    (jamm,) = jars.glob("jamm-*.jar")
    return [
        java,
        f"-javaagent:{jamm}",
        f"-Xms{heap_mib}m",
        f"-Xmx{heap_mib}m",
        "-Xss256k",
        "-XX:+UseG1GC",
        "-XX:MaxGCPauseMillis=300",
        "-XX:-UsePerfData",  # it would be in a folder shared by all processes
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={directory}/jvm-error.log",
        f"-Djava.io.tmpdir={directory / 'tmp'}",
        "-Djava.net.preferIPv4Stack=true",
        "-Djava.security.manager=allow",
        "-Djdk.attach.allowAttachSelf=true",
        "-Dio.netty.tryReflectionSetAccessible=true",
        f"-Dlogback.configurationFile={directory}/logback.xml",
        f"-Dcassandra.config=file://{directory}/cassandra.yaml",
        f"-Dcassandra.storagedir={directory}/data",
        f"-Dcassandra.logdir={directory}",
        "-Dcassandra-foreground=yes",
        # A first node waits for nobody. A joining one needs time for the others' answers, or it
        # ends.
        "-Dcassandra.skip_wait_for_gossip_to_settle=0",
        f"-Dcassandra.ring_delay_ms={_JOINING_MS if joins else 0}",
        "-Dcassandra.superuser_setup_delay_ms=0",
        *(f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTS),
        *(f"--add-opens={name}=ALL-UNNAMED" for name in _OPENS),
        "-cp",
        f"{jars}/*",
        "org.apache.cassandra.service.CassandraDaemon",
    ]
