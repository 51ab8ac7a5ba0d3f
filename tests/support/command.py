"""The `plimsoll` command, within the tests' process or as one of its own."""

import sys

Output = tuple[int, str, str]  # exit code, standard output, standard error
COMMAND = [sys.executable, "-c", "from plimsoll.cli.main import main; main()"]
