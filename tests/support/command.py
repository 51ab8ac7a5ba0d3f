"""The `plimsoll` command, within the tests' process or as one of its own."""

import sys

Output = tuple[int, str, str]  # exit code, standard output, standard error
# a job in a shell's background ignores Ctrl-C, and so does what it starts
_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = [sys.executable, "-c", f"{_CTRL_C}; from plimsoll.cli.main import main; main()"]
# `find` for seconds. Tests beside it keep the machine busy: it would wait for a calm one.
BESIDE_OTHERS = ["--without-audit", "undisturbed"]
BRIEF = ["--warm", "0", "--warmup", "0", "--duration", "0.5", "--quick"]
BRIEF += ["--max-connections", "2", *BESIDE_OTHERS]
