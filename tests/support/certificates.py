"""Certificates for the servers of the tests."""

import datetime as dt
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class CertificateFiles:
    """Where a server's certificate and its key lie, both as PEM."""

    certificate: Path
    key: Path

    @property
    def settings(self) -> dict[str, str | int]:
        """What makes a MariaDB offer TLS with them."""
        return {"ssl": 1, "ssl_cert": str(self.certificate), "ssl_key": str(self.key)}


@dataclass(frozen=True)
class Authority:
    """Signs certificates."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def new(cls) -> "Authority":
        """Make one, which vouches for itself."""
        key = _new_key()
        extension = x509.BasicConstraints(ca=True, path_length=None)
        unsigned = _valid_today(key, subject="authority", issuer="authority")
        signed = unsigned.add_extension(extension, critical=True).sign(key, hashes.SHA256())
        return cls(key, signed)

    @property
    def pem(self) -> str:
        """Its own certificate."""
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def sign(self, folder: Path, address: str) -> CertificateFiles:
        """Write a key and a certificate for an IP address into a new folder."""
        key = _new_key()
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        unsigned = _valid_today(key, subject="server", issuer="authority")
        signed = unsigned.add_extension(names, critical=False).sign(self.key, hashes.SHA256())
        folder.mkdir()
        return _written(folder, signed, key)


def self_signed(folder: Path) -> CertificateFiles:
    """Write a key and a certificate for which nobody else vouches."""
    key = _new_key()
    unsigned = _valid_today(key, subject="localhost", issuer="localhost")
    return _written(folder, unsigned.sign(key, hashes.SHA256()), key)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _valid_today(
    key: ec.EllipticCurvePrivateKey, *, subject: str, issuer: str
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _written(
    folder: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> CertificateFiles:
    files = CertificateFiles(folder / "cert.pem", folder / "key.pem")
    files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files
