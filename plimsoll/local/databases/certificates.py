"""Certificates for the servers of one machine, signed by an authority of its own, as on RDS."""

import datetime as dt
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)
LIFETIME = 365 * DAY  # longer than `plimsoll serve` runs; the keys are removed with it
_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False, content_commitment=False, key_encipherment=False,
    data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
    encipher_only=False, decipher_only=False,
)  # fmt: skip


@dataclass(frozen=True)
class CertificateFiles:
    """The files of a server's certificate and key, in PEM."""

    certificate: Path
    key: Path

    @property
    def settings(self) -> dict[str, str | int]:
        """Return the settings that make MariaDB offer TLS with them."""
        return {"ssl": 1, "ssl_cert": str(self.certificate), "ssl_key": str(self.key)}


@dataclass(frozen=True)
class Authority:
    """Signs certificates."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def new(cls) -> "Authority":
        """Create a self-signed authority."""
        key = make_key()
        unsigned = build_certificate(key, subject="Plimsoll", issuer="Plimsoll")
        unsigned = unsigned.add_extension(x509.BasicConstraints(True, None), critical=True)
        unsigned = unsigned.add_extension(_SIGNS_CERTIFICATES, critical=True)
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        unsigned = unsigned.add_extension(own, critical=False)
        return cls(key, unsigned.sign(key, hashes.SHA256()))

    @property
    def pem(self) -> str:
        """The authority's own certificate."""
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def sign(
        self, folder: Path, address: str, *, until: dt.timedelta = LIFETIME
    ) -> CertificateFiles:
        """Write a key and a certificate for an IP address into a new folder.

        Args:
            folder: The new folder; only its owner may read it.
            address: The address that the certificate names.
            until: The duration of its validity, from now.
        """
        return self.sign_for(folder, x509.IPAddress(ip_address(address)), until=until)

    def sign_for(
        self, folder: Path, name: x509.GeneralName, *, until: dt.timedelta = LIFETIME
    ) -> CertificateFiles:
        """Write a key and a certificate for whom it names, as `sign` does."""
        key = make_key()
        unsigned = build_certificate(key, subject="server", issuer="Plimsoll", until=until)
        unsigned = unsigned.add_extension(x509.SubjectAlternativeName([name]), critical=False)
        # Python demands it since 3.13
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        unsigned = unsigned.add_extension(signer, critical=False)
        folder.mkdir(mode=0o700)
        return write_certificate(folder, unsigned.sign(self.key, hashes.SHA256()), key)


def make_key() -> ec.EllipticCurvePrivateKey:
    """Create a key on an elliptic curve, which is fast."""
    return ec.generate_private_key(ec.SECP256R1())


def build_certificate(
    key: ec.EllipticCurvePrivateKey, *, subject: str, issuer: str, until: dt.timedelta = LIFETIME
) -> x509.CertificateBuilder:
    """Describe a certificate valid until `until` from now; it began two days before that or now."""
    ends = dt.datetime.now(dt.UTC) + until
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(ends, dt.datetime.now(dt.UTC)) - 2 * DAY)
        .not_valid_after(ends)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def write_certificate(
    folder: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> CertificateFiles:
    """Write a certificate and its key."""
    files = CertificateFiles(folder / "cert.pem", folder / "key.pem")
    files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files.key.touch(mode=0o600)  # PostgreSQL refuses a key that others may read
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files
