"""The files of a run in S3, `runs/<run id>/...`: the truth about it, and what `--out` holds."""

import gzip
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from botocore.exceptions import ClientError

from plimsoll.aws import clients
from plimsoll.aws.clients import S3_CONNECTIONS
from plimsoll.errors import UnreadableFileError
from plimsoll.model.base import Model
from plimsoll.model.deployment.function_settings import RunSettings

REQUEST = "request.json"
QUOTE = "quote.json"
TEMPLATE = "target.template.json"
DATASET = "dataset.json"
CONCLUSION = "conclusion.json"
SECONDS = "seconds.json"
RESULT = "result.json"
REPORT = "report.html"
HISTORY = "steps/history.json"

READ_AHEAD = 32  # files that wait for whoever reads them in order
UNPACKED_MOST = 64 * 2**20  # bytes of a packed file; an hour of seconds has some 4 MiB
PACKED_LEVEL = 6  # of zlib: a hundredth smaller at 9, for twice the time
_GZIP = 16 + zlib.MAX_WBITS  # a header of gzip, in zlib's words

AnyModel = TypeVar("AnyModel", bound=Model)


def plan_path(step: int) -> str:
    """What a step was planned as."""
    return f"steps/{step}/plan.json"


def client_path(step: int, client: int, repeated: int = 0) -> str:
    """What one client measured in a step; the warming step may be `repeated`."""
    return f"steps/{step}/clients/{client}{f'-{repeated}' if repeated else ''}.json.gz"


def claim_path(step: int, client: int, repeated: int = 0) -> str:
    """Who sends a client's load: written once, so that no second call sends it again."""
    return f"steps/{step}/claims/{client}{f'-{repeated}' if repeated else ''}.json"


def failures_under(step: int) -> str:
    """Where the workflow writes why a client's call failed: `<client>.json`, a `FailedClient`."""
    return f"steps/{step}/failures/"


PRECONDITIONING = "prepare/preconditioning.json"
PARTS_FAILURES = "prepare/failures/"  # ... and a part of the dataset: `<table>-<share>.json`


def unpacked(path: str, content: bytes) -> bytes:
    """Give what a file holds: one whose name ends in `.gz` is packed.

    Raises:
        UnreadableFileError: It is not, is cut off, or would be too large.
    """
    if not path.endswith(".gz"):
        return content
    unpacking = zlib.decompressobj(_GZIP)
    try:
        held = unpacking.decompress(content, UNPACKED_MOST)
    except zlib.error as error:
        raise UnreadableFileError(f"{path} cannot be unpacked: {error}") from None
    if not unpacking.eof or unpacking.unused_data:
        too_large = unpacking.unconsumed_tail or unpacking.unused_data
        why = "it is too large" if too_large else "it is cut off"
        raise UnreadableFileError(f"{path} cannot be unpacked: {why}")
    return held


def step_path(step: int) -> str:
    """What a step came to, all clients together."""
    return f"steps/{step}/step.json"


class RunFiles:
    """The files of one run, by their path within it; of an experiment, in a folder of its own."""

    def __init__(self, bucket: str, run_id: str, *, folder: str = "runs") -> None:
        self._bucket = bucket
        self._prefix = f"{folder}/{run_id}/"

    @property
    def address(self) -> str:
        """Where they are: `s3://<bucket>/runs/<run id>/`."""
        return f"s3://{self._bucket}/{self._prefix}"

    def key(self, path: str) -> str:
        """The key of a file in the bucket."""
        return self._prefix + path

    def put(
        self, path: str, content: str | bytes, *, content_type: str = "application/json"
    ) -> None:
        """Write a file."""
        clients.s3().put_object(
            Bucket=self._bucket,
            Key=self.key(path),
            Body=content.encode() if isinstance(content, str) else content,
            ContentType=content_type,
        )

    def claim(self, path: str) -> bool:
        """Write a file only where there is none; False where it is there already."""
        try:
            clients.s3().put_object(
                Bucket=self._bucket, Key=self.key(path), Body=b"{}", IfNoneMatch="*"
            )
        except ClientError as error:
            if error.response["Error"]["Code"] in {"PreconditionFailed", "412"}:
                return False
            raise
        return True

    def put_model(self, path: str, model: Model) -> None:
        """Write a model as JSON, packed where its path ends in `.gz`."""
        content = model.model_dump_json().encode()
        if path.endswith(".gz"):
            self.put(
                path, gzip.compress(content, PACKED_LEVEL, mtime=0), content_type="application/gzip"
            )
        else:
            self.put(path, content)

    def find(self, path: str) -> bytes | None:
        """Read a file as it lies there, packed or not; None where there is none.

        The listing says whether it is there: to a reader who may list no more than a prefix, S3
        answers a missing key with 403, as it does a forbidden one
        (docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html, "Permissions").
        """
        return self._read(path) if path in self.paths(path) else None

    def _read(self, path: str) -> bytes:
        client = clients.s3()
        try:
            return client.get_object(Bucket=self._bucket, Key=self.key(path))["Body"].read()
        except client.exceptions.NoSuchKey:
            raise FileNotFoundError(self.key(path)) from None

    def get(self, path: str, model: type[AnyModel]) -> AnyModel:
        """Read a file that must be there.

        Raises:
            FileNotFoundError: There is none, where S3 says so (see `find`).
        """
        return model.model_validate_json(unpacked(path, self._read(path)))

    def read_all(self, under: str) -> list[bytes]:
        """Read every file whose path starts so, in the order of the paths."""
        return [content for _, content in self.read_each(self.paths(under))]

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Read files in order, several at a time, and never hold more than `READ_AHEAD` of them.

        Yields:
            Each file's path, and the file as it lies there, packed or not.
        """
        with ThreadPoolExecutor(S3_CONNECTIONS) as pool:
            ahead: deque[tuple[str, Future[bytes]]] = deque()
            for path in paths:
                ahead.append((path, pool.submit(self._read, path)))
                if len(ahead) == READ_AHEAD:
                    path_read, content = ahead.popleft()
                    yield path_read, content.result()
            for path_read, content in ahead:
                yield path_read, content.result()

    def find_model(self, path: str, model: type[AnyModel]) -> AnyModel | None:
        """Read a file; None where there is none."""
        content = self.find(path)
        return None if content is None else model.model_validate_json(unpacked(path, content))

    def link(self, path: str, *, lasts_s: int) -> str:
        """Sign a link to a file, which opens without credentials for so many seconds."""
        return clients.s3().generate_presigned_url(
            "get_object",
            Params={"Bucket": self._bucket, "Key": self.key(path)},
            ExpiresIn=lasts_s,
        )

    def paths(self, under: str = "") -> list[str]:
        """List the files whose path starts so."""
        pages = clients.s3().get_paginator("list_objects_v2")
        listing = pages.paginate(Bucket=self._bucket, Prefix=self._prefix + under)
        length = len(self._prefix)
        return [item["Key"][length:] for page in listing for item in page.get("Contents", [])]


def files_of(settings: RunSettings, run_id: str) -> RunFiles:
    """Reach the files of a run."""
    return RunFiles(settings.results_bucket, run_id)
