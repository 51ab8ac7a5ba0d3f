"""Certificates that nobody vouches for, for the servers of the tests."""

from pathlib import Path

from cryptography.hazmat.primitives import hashes

from plimsoll.local.databases.certificates import (
    Authority,
    CertificateFiles,
    new_key,
    unsigned_certificate,
    written,
)

__all__ = ["Authority", "CertificateFiles", "self_signed"]


def self_signed(folder: Path) -> CertificateFiles:
    """Write a key and a certificate for which nobody else vouches."""
    key = new_key()
    unsigned = unsigned_certificate(key, subject="localhost", issuer="localhost")
    return written(folder, unsigned.sign(key, hashes.SHA256()), key)
