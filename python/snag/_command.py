"""What the command `snag` is asked for: its JSON, as docs/formats.md has it.

The library has no function for these yet; the command of the same version is beside it.
"""

from __future__ import annotations

import os
from typing import Any, List, Optional, Sequence

from ._library import Error, path

_found: Optional[str] = None


def command_path() -> str:
    """Where the command is: ``$SNAG_COMMAND``, else beside the library, else on the path."""
    import shutil

    said = os.environ.get("SNAG_COMMAND")
    if said:
        return said
    directory = os.path.dirname(path())
    for place in (
        "snag",
        os.path.join("..", "bin", "snag"),
        os.path.join("..", "..", "bin", "snag"),
    ):
        beside = os.path.join(directory, place)
        if directory and os.access(beside, os.X_OK):
            return beside
    found = shutil.which("snag")
    if found is None:
        raise Error(
            "the command snag is neither beside libsnag nor on the path: set SNAG_COMMAND"
        )
    return found


def _run(arguments: Sequence[str]) -> str:
    """What the command prints; status 3 is: done, but the input was damaged."""
    import subprocess

    try:
        done = subprocess.run(
            [command_path(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
    except OSError as error:
        raise Error("cannot run '%s': %s" % (command_path(), error.strerror)) from error
    if done.returncode not in (0, 3, 4):
        said = done.stderr.decode("utf-8", "replace").strip()
        raise Error(
            said[6:]
            if said.startswith("snag: ")
            else said or "snag %s ended with %d" % (arguments[0], done.returncode),
            done.returncode,
        )
    return done.stdout.decode("utf-8", "backslashreplace")


def _same_version() -> None:
    """The command says what the library says only where both are of one version."""
    global _found
    from ._library import library, text

    if _found == command_path():
        return
    said = _run(["--version"]).split()[1]
    version = text(library().snag_version())
    if said != version:
        raise Error("'%s' is version %s, libsnag %s" % (command_path(), said, version))
    _found = command_path()


def ask(*arguments: str) -> Any:
    """A value of JSON."""
    import json

    _same_version()
    return json.loads(_run([*arguments, "--json", "--quiet"]))


def ask_lines(*arguments: str) -> List[Any]:
    """A list of values of JSON, one a line."""
    import json

    _same_version()
    said = _run([*arguments, "--json", "--quiet"])
    return [json.loads(line) for line in said.splitlines() if line]
