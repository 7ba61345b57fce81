"""`regard` in forks of one process that has its imports made: a command in a moment, whatever it does.

    with Forked() as regard:
        done = regard.run("translate", "-m", "run", stdin=b"…")

Run as a program it is that process: a line of JSON in, {"arguments": …}, and a line out when it ended.
A command that dies, hangs or eats memory does so alone. Its streams are files.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEMORY = 12 << 30  # bytes of addresses: what is asked for beyond is refused, not taken from others


@dataclass(frozen=True)
class Done:
    """How a command ended: status < 0 is the signal that killed it, None that it took too long."""

    status: int | None
    out: bytes
    err: str
    seconds: float

    def __str__(self) -> str:
        return f"status {self.status}, said {self.err.strip()[-400:]!r}"


class Forked:
    def __enter__(self) -> Forked:
        plain = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "REGARD_DEBUG")}
        plain |= {"NO_COLOR": "1", "COLUMNS": "80", "OMP_NUM_THREADS": "1", "DISPLAY": ""}
        self._server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=plain,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()  # the end of its input is the end of it

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        streams: dict[int, str | None] | None = None,
        folder: Path | None = None,
        seconds: float = 60,
    ) -> Done:
        """streams: what stands in the place of 0, 1 or 2: a path, or None where it is closed."""
        asked = {
            "arguments": arguments,
            "stdin": base64.b64encode(stdin).decode(),
            "streams": streams or {},
            "folder": None if folder is None else str(folder),
            "seconds": seconds,
        }
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        told = json.loads(self._server.stdout.readline())
        return Done(**told | {"out": base64.b64decode(told["out"])})


def assert_told(done: Done, status: int | None = 2, names: str | None = None) -> None:
    """One sentence, and a hint that somebody thought of, or the file that it `names`.

    status None: any but 0.
    """
    assert done.status is not None, f"no end after {done.seconds:.0f} s"
    if status is None:
        assert done.status > 0, str(done)
    else:
        assert done.status == status, str(done)
    assert "Traceback" not in done.err, str(done)
    lines = done.err.strip().splitlines()
    assert len(lines) >= 2, str(done)
    assert lines[-2].startswith("error: "), str(done)
    assert lines[-1].startswith("hint: "), str(done)
    helps = "REGARD_DEBUG" not in lines[-1] or (names is not None and names in lines[-2])
    assert helps, f"nobody foresaw it: {done}"


def _live(asked: dict[str, Any], files: list[Any]) -> int:
    """The child: the command as the interpreter would run it; its status."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    for number, path in asked["streams"].items():
        os.close(int(number))
        if path is not None:
            assert os.open(path, os.O_RDWR) == int(number)
    names = ("stdin", "stdout", "stderr")
    for number, (name, mode) in enumerate(zip(names, "rww", strict=True)):
        setattr(sys, name, None)  # as the interpreter has it where one is closed
        with suppress(OSError):
            os.fstat(number)
            buffering = 1 if name == "stderr" else -1
            stream = os.fdopen(number, mode, buffering, encoding="utf-8", closefd=False)
            setattr(sys, name, stream)
    if asked["folder"]:
        os.chdir(asked["folder"])

    from regard.cli import main

    status = 0
    try:
        main(asked["arguments"])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        traceback.print_exc()
        status = 120
    if sys.stderr is not None:
        sys.stderr.flush()
    return status


def _wait(child: int, seconds: float) -> int | None:
    """Its status, or None if it had to be killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _serve() -> None:
    import torch

    import regard.cli
    import regard.looking.look
    import regard.report.run_evaluation
    import regard.runs.loaded_run
    import regard.serve.server_process
    import regard.training.run

    with suppress(ImportError):
        import regard.export.run_export  # noqa: F401

    torch.set_num_threads(1)
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    begin = time.monotonic()
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(base64.b64decode(asked["stdin"]))
        files[0].seek(0)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = _live(asked, files)
            finally:
                os._exit(status)
        ended = _wait(child, asked["seconds"])
        for file in files:
            file.seek(0)
        _, out, err = (file.read() for file in files)
    return {
        "status": ended,
        "out": base64.b64encode(out).decode(),
        "err": err.decode("utf-8", "replace"),
        "seconds": time.monotonic() - begin,
    }


if __name__ == "__main__":
    _serve()
