"""Prints pages as PDF and pictures as PNG with the machine's Chromium.

It runs headless, for a bounded time, with a temporary profile and without network access.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from plimsoll.errors import MissingToolError, PlimsollError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_S = 120
OPTIONS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",  # containers have too small a /dev/shm
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-breakpad",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


def find_chromium() -> str:
    """Return Chromium's path: the one in `CHROMIUM`, or the first of its usual names.

    Raises:
        MissingToolError: There is none.
    """
    named = os.environ.get("CHROMIUM")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        where = f"CHROMIUM names {named}, which cannot be run" if named else "none was found"
        raise MissingToolError(
            f"PDF and PNG are drawn by Chromium, and {where}: install it (on Debian:"
            " apt-get install chromium) or let CHROMIUM name it"
        )
    return found


def print_pdf(page: str) -> bytes:
    """Print a page as PDF, laid out by its print style.

    Raises:
        MissingToolError: There is no Chromium.
        PlimsollError: Chromium failed, or took longer than `PATIENCE_S`.
    """
    return _convert_file(
        "page.html", page, "out.pdf", "--no-pdf-header-footer", "--print-to-pdf={out}"
    )


def draw_png(svg: str, width_px: int, height_px: int) -> bytes:
    """Draw a picture at two dots per px. Raises the same errors as `print_pdf`."""
    size = f"--window-size={width_px},{height_px}"
    scale = "--force-device-scale-factor=2"
    return _convert_file(
        "picture.svg", svg, "out.png", size, scale, "--hide-scrollbars", "--screenshot={out}"
    )


def _convert_file(name: str, content: str, made: str, *options: str) -> bytes:
    """Let Chromium convert a file, and return its output."""
    browser = find_chromium()
    with tempfile.TemporaryDirectory(prefix="plimsoll-", ignore_cleanup_errors=True) as folder:
        source, out = Path(folder, name), Path(folder, made)
        source.write_text(content, "utf-8")
        # Chromium's sandbox refuses to run as root. The page is our own and may load nothing.
        rootly = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [browser, *OPTIONS, *rootly, f"--user-data-dir={folder}/profile"]
        command += [option.format(out=out) for option in options]
        said = _run([*command, source.as_uri()], folder)
        if not out.is_file():
            last = said.strip().splitlines()[-1:] or ["it said nothing"]
            raise PlimsollError(f"{browser} made no {out.suffix[1:].upper()}: {last[0]}")
        return out.read_bytes()


def _run(command: list[str], folder: str) -> str:
    """Run a program that keeps its files in a folder; return its standard error."""
    environment = {**os.environ, "HOME": folder, "TMPDIR": folder}
    said = Path(folder, "said")
    with (
        said.open("wb") as errors,
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        ) as browser,
    ):
        try:
            browser.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise PlimsollError(f"{command[0]} took longer than {PATIENCE_S} s") from None
        finally:
            # the helper processes too, since they write into the folder
            with suppress(ProcessLookupError):
                os.killpg(browser.pid, signal.SIGKILL)
    return said.read_text("utf-8", errors="replace")
