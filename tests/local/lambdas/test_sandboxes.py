"""Every concurrent invocation is a process of its own, warm again afterwards, dead in time."""

import errno
import json
import os
import queue
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from plimsoll.local.aws import lambda_invoke
from plimsoll.local.lambdas import nursery
from plimsoll.local.lambdas.invocation import FunctionSpec, InvocationAnswer
from plimsoll.local.lambdas.logs import FunctionLogs
from plimsoll.local.lambdas.sandboxes import SandboxPool

PROBE = Path(__file__).parents[1] / "functions/probe"
LONG_S = 120  # of what is awaited, or ended before: longer than a busy machine takes


def spec(name: str = "probe", *, root: Path = PROBE, timeout_s: float = LONG_S) -> FunctionSpec:
    return FunctionSpec(
        name=name,
        arn=f"arn:aws:lambda:us-east-1:123456789012:function:{name}",
        task_root=root,
        handler="handler.handler",
        timeout_s=timeout_s,
        memory_mib=256,
        environment=(("POLL_SECONDS", "7"),),
    )


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def pool(logs: Path) -> Iterator[SandboxPool]:
    running = SandboxPool(logs, {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    running.preload([PROBE])
    yield running
    running.close()


def call(
    pool: SandboxPool, event: dict[str, Any], function: FunctionSpec | None = None
) -> InvocationAnswer:
    return pool.invoke(function or spec(), json.dumps(event).encode())


def body(answer: InvocationAnswer) -> Any:
    assert not answer.failed, answer.payload
    return json.loads(answer.payload)


def test_a_handler_gets_its_event_its_environment_and_its_deadline(pool: SandboxPool) -> None:
    told = body(call(pool, {"n": 1}))
    assert told["event"] == {"n": 1}
    assert told["variable"] == "7"
    assert told["endpoint"] == "http://127.0.0.1:1"
    assert 0 < told["remaining_ms"] <= LONG_S * 1000


def test_a_sandboxs_clients_are_made_for_its_own_environment(pool: SandboxPool) -> None:
    """Though its parent has made some before, to have the SDK's models read."""
    moved = replace(
        spec("moved"),
        environment=(
            ("AWS_ENDPOINT_URL", "http://127.0.0.1:2"),
            ("AWS_DEFAULT_REGION", "eu-north-1"),
        ),
    )
    assert body(call(pool, {"service": "dynamodb"}, moved)) == {
        "endpoint": "http://127.0.0.1:2",
        "region": "eu-north-1",
    }


def test_invocations_at_once_are_processes_of_their_own(pool: SandboxPool, tmp_path: Path) -> None:
    together = {"meet": str(tmp_path / "met"), "of": 24}  # none ends before all have begun
    with ThreadPoolExecutor(24) as callers:
        answers = callers.map(lambda _: call(pool, together), range(24))
        pids = [body(answer)["pid"] for answer in answers]
    assert len(set(pids)) == 24
    assert os.getpid() not in pids


def test_a_warm_sandbox_is_used_again(pool: SandboxPool) -> None:
    function = spec("warm")
    told = [body(call(pool, {}, function))]
    while told[-1]["invocation"] == 1:  # an answer can be here before its sandbox is free again
        told.append(body(call(pool, {}, function)))
        assert len(told) < 50
    assert told[-1]["pid"] in {one["pid"] for one in told[:-1]}
    assert len({one["request_id"] for one in told}) == len(told)


@pytest.mark.parametrize(
    ("event", "kind", "message"),
    [
        ({"raise": "no good"}, "ValueError", "no good"),
        ({"exit": 3}, "Runtime.ExitError", "Runtime exited with error: exit status 3"),
        ({"exit": 0}, "Runtime.ExitError", "Runtime exited without providing a reason"),
    ],
)
def test_a_failure_has_lambdas_shape(
    pool: SandboxPool, event: dict[str, Any], kind: str, message: str
) -> None:
    answer = call(pool, event)
    told = json.loads(answer.payload)
    assert answer.failed
    assert told["errorType"] == kind
    assert message in told["errorMessage"]


def test_an_invocation_is_never_repeated_by_itself(pool: SandboxPool, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    assert call(pool, {"touch": str(calls), "exit": 1}).failed
    assert len(calls.read_text().splitlines()) == 1


def test_a_killed_client_is_told_to_its_caller(pool: SandboxPool) -> None:
    function = spec("victim", timeout_s=LONG_S)
    with ThreadPoolExecutor(1) as caller:
        waiting = caller.submit(call, pool, {"sleep_s": LONG_S}, function)
        pid = running_pid(pool, "victim")
        os.kill(pid, signal.SIGKILL)
        told = json.loads(waiting.result(LONG_S).payload)
    assert told["errorType"] == "Runtime.ExitError"
    assert told["errorMessage"].endswith("Runtime exited with error: signal: killed")


def test_an_invocation_past_its_time_is_killed_and_says_so(pool: SandboxPool, logs: Path) -> None:
    function = spec("slow", timeout_s=1)
    for _ in range(2):
        told = json.loads(call(pool, {"sleep_s": LONG_S}, function).payload)
        assert told["errorType"] == "Sandbox.Timedout"
        assert told["errorMessage"].endswith("Error: Task timed out after 1.00 seconds")
    pids = re.findall(r"START RequestId: \S+ pid: (\d+)", (logs / "slow.log").read_text())
    assert len(set(pids)) == 2
    for pid in pids:
        with suppress(psutil.NoSuchProcess):  # before it could be looked at
            psutil.Process(int(pid)).wait(LONG_S)
    assert "slow" not in {name for name, _, _ in pool.list_running()}


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (None, "Runtime.ImportModuleError"),
        ("def handler(:\n", "Runtime.UserCodeSyntaxError"),
        ("def other(): ...\n", "Runtime.HandlerNotFound"),
    ],
)
def test_a_handler_that_cannot_be_loaded_is_told_to_its_caller(
    pool: SandboxPool, tmp_path: Path, source: str | None, kind: str
) -> None:
    if source is not None:
        (tmp_path / "handler.py").write_text(source)
    answer = call(pool, {}, spec(f"bad-{kind[8:]}", root=tmp_path))
    assert answer.failed
    assert json.loads(answer.payload)["errorType"] == kind


def test_what_a_function_prints_is_in_its_log(pool: SandboxPool, logs: Path) -> None:
    answer = call(pool, {"raise": "look here"}, spec("talker"))
    log = (logs / "talker.log").read_text()
    assert "ValueError: look here" in log
    assert f"REPORT RequestId: {json.loads(answer.payload)['requestId']}" in log


def test_sandboxes_die_with_whoever_started_them(tmp_path: Path) -> None:
    script = textwrap.dedent(
        f"""
        import json, sys, threading, time
        sys.path.insert(0, {str(Path(__file__).parents[3])!r})
        from pathlib import Path
        from plimsoll.local.lambdas.invocation import FunctionSpec
        from plimsoll.local.lambdas.sandboxes import SandboxPool
        pool = SandboxPool(Path({str(tmp_path)!r}), {{}})
        function = FunctionSpec("f", "arn", Path({str(PROBE)!r}), "handler.handler", 600, 128)
        pool.invoke(function, b"{{}}")
        threading.Thread(target=pool.invoke, args=(function, b'{{"sleep_s": 600}}')).start()
        while not (pids := [pid for _, _, pid in pool.list_running() if pid]):
            time.sleep(0.01)
        print(pids[0], flush=True)
        time.sleep(600)
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        sandbox = psutil.Process(int(parent.stdout.readline()))
        nursery = sandbox.parent()
        assert nursery is not None
        parent.kill()
    assert not psutil.wait_procs([sandbox, nursery], timeout=LONG_S)[1]


def running_pid(pool: SandboxPool, function: str) -> int:
    """Wait until a function runs, which it does until it is ended; gives its process."""
    while True:
        for name, _, pid in pool.list_running():
            if name == function and pid:
                return pid
        time.sleep(0.01)


REASON = "the process that functions are forked from was killed, as happens when this machine runs"


def killed(pool: SandboxPool) -> int:
    """Kill a pool's nursery, as the kernel does when memory runs out; gives its process."""
    pid = pool._nursery.pid
    os.kill(pid, signal.SIGKILL)
    return pid


def test_a_killed_nursery_fails_what_runs_and_another_takes_its_place(logs: Path) -> None:
    pool = SandboxPool(logs, {})
    pool.preload([PROBE])
    try:
        body(call(pool, {}, spec("idle")))  # one sandbox that waits, warm
        with ThreadPoolExecutor(2) as callers:
            waiting = [
                callers.submit(call, pool, {"sleep_s": LONG_S}, spec(name)) for name in ("a", "b")
            ]
            sandboxes = [psutil.Process(running_pid(pool, name)) for name in ("a", "b")]
            first = killed(pool)
            for one in waiting:
                told = json.loads(one.result(LONG_S).payload)
                assert told["errorType"] == "Runtime.ExitError"
                assert REASON in told["errorMessage"]
        assert not psutil.wait_procs(sandboxes, timeout=LONG_S)[1]
        body(until_not_of_the_killed(pool))
        assert pool._nursery.pid != first
        killed(pool)  # and so again
        body(until_not_of_the_killed(pool))
    finally:
        pool.close()


def until_not_of_the_killed(pool: SandboxPool) -> InvocationAnswer:
    """Call until the next nursery answers; what is called in between fails, and at once."""
    while (answer := call(pool, {}, spec("idle"))).failed:
        assert REASON in json.loads(answer.payload)["errorMessage"]
    return answer


def test_calls_that_meet_the_death_of_a_nursery_are_all_answered(logs: Path) -> None:
    pool = SandboxPool(logs, {})
    pool.preload([PROBE])
    try:
        body(call(pool, {}, spec("met")))
        with ThreadPoolExecutor(16) as callers:
            answers = [callers.submit(call, pool, {}, spec("met")) for _ in range(48)]
            answers[8].result(LONG_S)
            killed(pool)
            told = [answer.result(LONG_S) for answer in answers]
        assert any(not answer.failed for answer in told)
        for answer in told:
            assert not answer.failed or REASON in json.loads(answer.payload)["errorMessage"]
    finally:
        pool.close()


def test_a_nursery_that_dies_before_it_can_do_anything_is_not_replaced(logs: Path) -> None:
    hopeless: queue.SimpleQueue[str] = queue.SimpleQueue()
    pool = SandboxPool(logs, {}, hopeless=hopeless.put)
    try:
        killed(pool)
        assert REASON in hopeless.get(timeout=LONG_S)
        answer = call(pool, {}, spec("late"))
        assert answer.failed
    finally:
        pool.close()


def test_a_log_that_cannot_be_written_holds_up_no_invocation(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk each call waited for a minute, and so did each repetition of its state."""
    monkeypatch.setattr(FunctionLogs, "file", lambda *_: Path("/dev/full"))
    pool = SandboxPool(logs, {})
    try:
        assert body(call(pool, {"n": 1}, spec("on-a-full-disk")))["event"] == {"n": 1}
    finally:
        pool.close()


def test_a_function_that_cannot_be_forked_fails_with_the_limit_and_the_next_one_runs(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = SandboxPool(logs, {})
    try:
        order = pool._nursery.order
        why = "Resource temporarily unavailable: this user may have 30 processes and threads"

        def refuse(command: dict[str, Any]) -> bool:
            """Answer as a nursery does whose fork is refused."""
            pool._on_report({"exited": command["spawn"], "why": why})
            return True

        monkeypatch.setattr(pool._nursery, "order", refuse)
        failed = call(pool, {"n": 1})
        assert failed.failed
        assert json.loads(failed.payload)["errorMessage"].endswith(why)
        monkeypatch.setattr(pool._nursery, "order", order)
        assert body(call(pool, {"n": 2}))["event"] == {"n": 2}
    finally:
        pool.close()


def test_a_nursery_that_may_not_fork_says_so_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    told: list[dict[str, Any]] = []
    monkeypatch.setattr(nursery, "os", SimpleNamespace(getpid=os.getpid, fork=refuse))
    monkeypatch.setattr(nursery, "say", told.append)
    made = nursery.Nursery()
    made._spawn({"spawn": "one"})
    ((name, why),) = [(one["exited"], one["why"]) for one in told]
    assert name == "one"
    assert why.startswith("Resource temporarily unavailable")
    assert made.pids == {}


def test_a_failure_under_low_limits_says_so_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that a limit of the shell's ends does not name it."""
    monkeypatch.setattr(lambda_invoke, "name_low_limits", lambda: "a file may have 5 MiB at most")
    monkeypatch.setattr(lambda_invoke, "replace_members", lambda *_, **__: None)
    functions = lambda_invoke.Functions(NotImplemented, {}, home=tmp_path)
    failure = b'{"errorMessage": "MariaDB did not start", "errorType": "TargetCreationError"}'
    told = json.loads(functions._with_cause(InvocationAnswer(failure, failed=True)).payload)
    before = "low limits: a file may have 5 MiB at most: "
    assert told["errorMessage"] == f"{before}MariaDB did not start"


@pytest.mark.parametrize(("free_bytes", "full"), [(1000, True), (2**30, False)])
def test_a_failure_on_a_full_disk_says_so_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_bytes: int, full: bool
) -> None:
    monkeypatch.setattr(lambda_invoke, "read_free_disk_bytes", lambda _: free_bytes)
    monkeypatch.setattr(lambda_invoke, "replace_members", lambda *_, **__: None)
    functions = lambda_invoke.Functions(NotImplemented, {}, home=tmp_path)
    failure = b'{"errorMessage": "(1114, table is full)", "errorType": "DatasetError"}'
    told = json.loads(functions._with_cause(InvocationAnswer(failure, failed=True)).payload)
    before = f"no space left in {tmp_path} for databases and logs: " if full else ""
    assert told == {"errorMessage": f"{before}(1114, table is full)", "errorType": "DatasetError"}
    assert next(iter(told)) == "errorMessage"  # where a run's failure looks for its sentence
    fine = InvocationAnswer(b"{}")
    assert functions._with_cause(fine) is fine
