"""Firefox as Debian packages it, driven by its own Marionette protocol: JSON arrays over a socket."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PATIENCE = 120.0  # seconds
PREFERENCES = {
    "marionette.port": 0,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "app.update.enabled": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "network.proxy.type": 0,
    "browser.download.folderList": 2,
    "browser.download.useDownloadDir": True,
    "browser.download.alwaysOpenPanel": False,
    "browser.download.always_ask_before_handling_new_types": False,
    "browser.helperApps.neverAsk.saveToDisk": "application/pdf,image/svg+xml,image/png",
    "pdfjs.disabled": True,
}


class Firefox:
    """with Firefox(folder) as page: page.open(url); page.run("return document.title")"""

    def __init__(self, folder: Path, width: int = 1280, height: int = 900) -> None:
        self.folder, self.size, self.asked = folder, (width, height), 0
        self.downloads = folder / "downloads"
        self.downloads.mkdir()

    def __enter__(self) -> Firefox:
        assert FIREFOX is not None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        wanted = PREFERENCES | {"marionette.port": port}
        wanted["browser.download.dir"] = str(self.downloads)
        lines = [f"user_pref({json.dumps(n)}, {json.dumps(v)});" for n, v in wanted.items()]
        (self.folder / "user.js").write_text("\n".join(lines), "utf-8")
        command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", self.folder]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self.folder)},
        )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
                break
            except OSError:
                assert time.monotonic() < end, "Firefox does not answer"
                assert self.process.poll() is None, "Firefox ended at once"
                time.sleep(0.2)
        self._read()  # who it is
        self.ask("WebDriver:NewSession", capabilities={"alwaysMatch": {}})
        wide, high = self.size
        self.ask("WebDriver:SetWindowRect", width=wide, height=high)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            self.ask("Marionette:Quit", flags=["eForceQuit"])
        self.socket.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def open(self, url: str) -> None:
        self.ask("WebDriver:Navigate", url=url)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a function body returns; `arguments` are its arguments. A promise is waited for."""
        body = f"return (async (...arguments_) => {{ {script} }})(...arguments)"
        given = {"script": body, "args": list(arguments), "scriptTimeout": 60_000}
        return self.ask("WebDriver:ExecuteScript", **given)["value"]

    def downloaded(self) -> Path:
        """The file that is being written, once it is whole."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = [path for path in self.downloads.iterdir() if path.stat().st_size]
            if len(found) == 1 and found[0].suffix != ".part":
                return found[0]
            time.sleep(0.1)
        raise TimeoutError("Firefox wrote no file")

    def ask(self, command: str, **given: Any) -> Any:
        self.asked += 1
        message = json.dumps([0, self.asked, command, given]).encode()
        self.socket.sendall(b"%d:" % len(message) + message)
        _, number, error, result = self._read()
        assert number == self.asked
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._bytes(1)
        return json.loads(self._bytes(int(length[:-1])))

    def _bytes(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise OSError("Firefox hung up")
            data += more
        return data
