"""Certificates that nobody vouches for, for the servers of the tests."""

from pathlib import Path

from cryptography.hazmat.primitives import hashes

from plimsoll.local.databases.certificates import (
    Authority,
    CertificateFiles,
    build_certificate,
    make_key,
    write_certificate,
)

__all__ = ["Authority", "CertificateFiles", "self_signed"]


def self_signed(folder: Path) -> CertificateFiles:
    """Write a key and a certificate for which nobody else vouches."""
    key = make_key()
    unsigned = build_certificate(key, subject="localhost", issuer="localhost")
    return write_certificate(folder, unsigned.sign(key, hashes.SHA256()), key)
