"""The files of a run in S3, `runs/<run id>/...`: authoritative, and what `--out` downloads."""

import gzip
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from botocore.exceptions import ClientError
from pydantic import ValidationError

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.aws.clients import S3_CONNECTIONS
from plimsoll.errors import UnreadableFileError
from plimsoll.model.base import AnyModel, Model
from plimsoll.model.deployment.function_settings import RunSettings
from plimsoll.model.request.load_request import SECONDS_OF_A_CLIENT
from plimsoll.model.run.fleet import StepPlan

REQUEST = "request.json"
QUOTE = "quote.json"
TEMPLATE = "target.template.json"
DATASET = "dataset.json"
CONDITIONS = "conditions.json"
CONCLUSION = "conclusion.json"
SECONDS = "seconds.json"
RESULT = "result.json"
REPORT = "report.html"
HISTORY = "steps/history.json"

READ_AHEAD = 32  # files read ahead of a reader who wants them in order
UNPACKED_MOST = 64 * 2**20  # bytes of a packed file; an hour of seconds has some 4 MiB
PACKED_LEVEL = 6  # zlib level; 9 is a hundredth smaller but takes twice the time
_WHY_MOST = 500  # characters of what is wrong with a file, which may repeat a name from it
_GZIP = 16 + zlib.MAX_WBITS  # makes zlib expect a gzip header


def plan_path(step: int) -> str:
    """Path of a step's plan."""
    return f"steps/{step}/plan.json"


def client_path(step: int, client: int, repeated: int = 0) -> str:
    """Path of one client's result in a step; the warming step may be `repeated`."""
    return f"steps/{step}/clients/{client}{f'-{repeated}' if repeated else ''}.json.gz"


def claim_path(step: int, client: int, repeated: int = 0) -> str:
    """Path of the claim on a client's load: written once, so that no second call sends it again."""
    return f"steps/{step}/claims/{client}{f'-{repeated}' if repeated else ''}.json"


def failures_folder(step: int) -> str:
    """Folder in which the workflow writes why clients failed: `<client>.json`, a `FailedClient`."""
    return f"steps/{step}/failures/"


def counters_path(step: int) -> str:
    """Path of the server's counters at the end of a relay's window, a `ServerCounters`."""
    return f"steps/{step}/counters.json"


PRECONDITIONING = "prepare/preconditioning.json"
PARTS_FAILURES = "prepare/failures/"  # the same for parts of the dataset: `<table>-<share>.json`


def unpack_file(path: str, content: bytes) -> bytes:
    """Return a file's content; a file whose name ends in `.gz` is unpacked.

    Raises:
        UnreadableFileError: It is not packed, is truncated, or would be too large.
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
    """Path of a step's result, with all clients merged."""
    return f"steps/{step}/step.json"


def read_file(path: str, content: bytes, model: type[AnyModel]) -> AnyModel:
    """Read a file's content, packed or not, into a model.

    Raises:
        UnreadableFileError: It is damaged; names the first wrong field.
    """
    try:
        return model.model_validate_json(unpack_file(path, content))
    except ValidationError as error:
        raise make_unreadable(path, error) from None


def make_unreadable(path: str, error: ValidationError) -> UnreadableFileError:
    """Return the error for a file or folder whose content does not fit; names the first field."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"]))
    why = f"{field}: {first['msg']}" if field else first["msg"]
    return UnreadableFileError(f"{path} is damaged: {why[:_WHY_MOST]}")


def require_near_end(plan: StepPlan, now_ms: int) -> None:
    """See that a step's window ends while a function runs: nobody waits for a damaged time.

    Raises:
        UnreadableFileError: It does not.
    """
    if plan.window_end_epoch_ms - now_ms > 1000 * SECONDS_OF_A_CLIENT:
        longest = words.format_duration(SECONDS_OF_A_CLIENT)
        raise UnreadableFileError(
            f"{plan_path(plan.index)} is damaged: its window ends more than {longest} from now"
        )


class RunFiles:
    """The files of one run, by their path within its folder; experiments have a folder, too."""

    def __init__(self, bucket: str, run_id: str, *, folder: str = "runs") -> None:
        self._bucket = bucket
        self._prefix = f"{folder}/{run_id}/"

    @property
    def address(self) -> str:
        """The folder's address: `s3://<bucket>/runs/<run id>/`."""
        return f"s3://{self._bucket}/{self._prefix}"

    def key(self, path: str) -> str:
        """Return the key of a file in the bucket."""
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
        """Create a file; return False if it exists already."""
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
        """Write a model as JSON, packed if the path ends in `.gz`."""
        content = model.model_dump_json().encode()
        if path.endswith(".gz"):
            self.put(
                path, gzip.compress(content, PACKED_LEVEL, mtime=0), content_type="application/gzip"
            )
        else:
            self.put(path, content)

    def find(self, path: str) -> bytes | None:
        """Read a file as it is stored, packed or not; None if it does not exist.

        The listing tells whether it exists: to a reader who may list only a prefix, S3 answers a
        missing key with 403, as it does a forbidden one
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
        """Read a file that must exist.

        Raises:
            FileNotFoundError: It does not, if S3 says so (see `find`).
            UnreadableFileError: It is damaged.
        """
        return read_file(path, self._read(path), model)

    def get_all(self, under: str, model: type[AnyModel]) -> list[AnyModel]:
        """Read every file whose path has a prefix, in the order of the paths.

        Raises:
            UnreadableFileError: One is damaged.
        """
        each = self.read_each(self.paths(under))
        return [read_file(path, content, model) for path, content in each]

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Read files in order, several at a time, never holding more than `READ_AHEAD` of them.

        Yields:
            The path of each file, and its content as stored, packed or not.
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
        """Read a file into a model; None if it does not exist.

        Raises:
            UnreadableFileError: It is damaged.
        """
        content = self.find(path)
        return None if content is None else read_file(path, content, model)

    def link(self, path: str, *, lasts_s: int) -> str:
        """Return a signed link to a file, valid without credentials for so many seconds."""
        return clients.s3().generate_presigned_url(
            "get_object",
            Params={"Bucket": self._bucket, "Key": self.key(path)},
            ExpiresIn=lasts_s,
        )

    def paths(self, under: str = "") -> list[str]:
        """List the files whose path has a prefix."""
        pages = clients.s3().get_paginator("list_objects_v2")
        listing = pages.paginate(Bucket=self._bucket, Prefix=self._prefix + under)
        length = len(self._prefix)
        return [item["Key"][length:] for page in listing for item in page.get("Contents", [])]


def files_of(settings: RunSettings, run_id: str) -> RunFiles:
    """Return the files of a run."""
    return RunFiles(settings.results_bucket, run_id)
