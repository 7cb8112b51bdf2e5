#!/usr/bin/env python3
"""Makes a wheel of the package, with the library and the command inside: no network, no
compiler.

    build_wheel.py BUILD [DIRECTORY]

BUILD has libsnag.so and snag, as ``./setup.sh build`` makes them; the wheel goes to DIRECTORY,
by default BUILD/python. Its name is printed. What these two are linked with (SQLite, zstd,
elfutils, ...) is the system's, so the wheel is for systems like the one it was built on.
"""

import base64
import hashlib
import os
import re
import sys
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def version_of(build: str) -> str:
    """As the library is called: libsnag.so.0.1.0."""
    name = os.path.basename(os.path.realpath(os.path.join(build, "libsnag.so.1")))
    match = re.match(r"libsnag\.so\.(\d+\.\d+\.\d+)$", name)
    if match is None:
        sys.exit("build_wheel: no libsnag.so.1 in '%s': build it first" % build)
    return match.group(1)


def members(build: str, version: str, tag: str) -> "list[tuple[str, bytes, int]]":
    """(name, content, mode) of each file of the wheel."""
    out = []
    package = os.path.join(HERE, "snag")
    for name in sorted(os.listdir(package)):
        if name.endswith(".py") or name == "py.typed":
            out.append(("snag/" + name, os.path.join(package, name), 0o644))
    out.append(("snag/lib/libsnag.so.1", os.path.join(build, "libsnag.so.1"), 0o755))
    out.append(("snag/lib/snag", os.path.join(build, "snag"), 0o755))
    files = []
    for name, path, mode in out:
        with open(path, "rb") as file:
            files.append((name, file.read(), mode))
    info = "snag-%s.dist-info/" % version
    metadata = (
        "Metadata-Version: 2.1\nName: snag\nVersion: %s\n"
        "Summary: Find the executions of a parallel program's functions that do not belong, "
        "and say why\nRequires-Python: >=3.8\n" % version
    )
    wheel = (
        "Wheel-Version: 1.0\nGenerator: snag build_wheel\nRoot-Is-Purelib: false\nTag: %s\n"
        % tag
    )
    files.append((info + "METADATA", metadata.encode(), 0o644))
    files.append((info + "WHEEL", wheel.encode(), 0o644))
    return files


def record(files: "list[tuple[str, bytes, int]]", name: str) -> bytes:
    """What pip checks: each file, its SHA-256, its size."""
    rows = []
    for file, data, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append("%s,sha256=%s,%d\n" % (file, digest, len(data)))
    return ("".join(rows) + name + ",,\n").encode()


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build = sys.argv[1]
    directory = sys.argv[2] if len(sys.argv) == 3 else os.path.join(build, "python")
    version = version_of(build)
    tag = "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform())
    files = members(build, version, tag)
    name = "snag-%s.dist-info/RECORD" % version
    files.append((name, record(files, name), 0o644))
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "snag-%s-%s.whl" % (version, tag))
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED) as wheel:
        for file, data, mode in files:
            member = zipfile.ZipInfo(file)  # of 1980: the same bytes from the same build
            member.external_attr = (0o100000 | mode) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(member, data)
    os.replace(path + ".part", path)
    print(path)


if __name__ == "__main__":
    main()
