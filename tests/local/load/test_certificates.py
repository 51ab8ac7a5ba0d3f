"""A server's certificate is believed only from the authority given, and only for its own name."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pymysql
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.dsn import parse_dsn
from plimsoll.model.engine import EngineTarget, Tls
from plimsoll_engine import EngineError
from tests.local.load.driving import drive

DAY = dt.timedelta(days=1)


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@dataclass
class Authority:
    """Signs certificates; `pem` is its own."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def new(cls) -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        now = dt.datetime.now(dt.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name("authority"))
            .issuer_name(name("authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(key, certificate)

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def sign(self, folder: Path, address: str) -> dict[str, str | int]:
        """Make a key and a certificate for an address; gives the server's settings."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name("server"))
            .issuer_name(self.certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.certificate.not_valid_before_utc)
            .not_valid_after(self.certificate.not_valid_after_utc)
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False
            )
            .sign(self.key, hashes.SHA256())
        )
        folder.mkdir()
        cert_file, key_file = folder / "cert.pem", folder / "key.pem"
        cert_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return {"ssl": 1, "ssl_cert": str(cert_file), "ssl_key": str(key_file)}


OURS, ANOTHER = Authority.new(), Authority.new()


@pytest.fixture(scope="module", params=["127.0.0.1", "127.0.0.2"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, EngineTarget]]:
    """A server with our authority's certificate for an address, its own or not."""
    base = tmp_path_factory.mktemp("tls")
    settings = OURS.sign(base / "keys", request.param)
    with MariaDbServer.start(directory=base / "server", settings=settings) as running:
        target = parse_dsn(running.dsn)
        with (
            pymysql.connect(
                host=running.host, port=running.port, user=running.user, password=running.password
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SET GLOBAL require_secure_transport = ON")
            cursor.execute(f"CREATE TABLE {running.database}.t (id INT PRIMARY KEY, v INT)")
        yield request.param, target


@pytest.mark.parametrize(
    ("tls", "believed_for"),
    [
        (Tls(verify=True, ca_pem=OURS.pem), {"127.0.0.1"}),
        (Tls(verify=True, ca_pem=ANOTHER.pem + OURS.pem), {"127.0.0.1"}),
        (Tls(verify=True, ca_pem=ANOTHER.pem), set[str]()),
        (Tls(verify=True), set[str]()),
        (Tls(verify=False), {"127.0.0.1", "127.0.0.2"}),
    ],
    ids=["ours", "both", "another", "the system's", "unverified"],
)
def test_a_certificate_is_believed(
    server: tuple[str, EngineTarget], tls: Tls, believed_for: set[str]
) -> None:
    address, target = server
    asked = target.model_copy(update={"tls": tls})
    if address in believed_for:
        report = drive(asked, connections=2, duration_s=60, operations_limit=20)
        assert report.operations["read"].succeeded == 20
        return
    with pytest.raises(EngineError, match=r"(?i)certificate"):
        drive(asked, connections=2, duration_s=60, operations_limit=20)
