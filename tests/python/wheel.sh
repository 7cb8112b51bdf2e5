#!/usr/bin/env bash
# A wheel that is made without a network is installed by pip without a network, and works where nothing of the build can
# be seen: library and command are those inside. The same build makes the same bytes.
#
#   wheel.sh BUILD SOURCE
set -eu
BUILD=$(realpath "$1") SOURCE=$(realpath "$2")
. "$SOURCE/tests/support/find_python.sh"
python=$(find_python venv,ensurepip) || {
    echo "skipped: no Python 3.8 or later with venv and ensurepip"
    exit 77
}
. "$SOURCE/tests/support/own_directory.sh"
fail() {
    echo "$*"
    exit 1
}

wheel=$("$python" "$SOURCE/python/build_wheel.py" "$BUILD" here)
"$python" "$SOURCE/python/build_wheel.py" "$BUILD" again >/dev/null
cmp "$wheel" again/* || fail "the same build makes another wheel"
"$python" -m venv --system-site-packages venv
venv/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --find-links here snag || fail "pip does not take it"
rm -r here again

cat >try.py <<'END'
import doctest, os, sys
import snag
from snag import _command, _detector

here = os.path.realpath("venv")
assert os.path.realpath(snag.__file__).startswith(here), snag.__file__
for module in (snag, _detector):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed
run = snag.analyze("synth:100*step(a@1ms b@2ms);slow=b/47/5", foi="step", out="r.snag")
assert run.incidents.row(0)["head"] == "#0-46", list(run.incidents)
assert run["#0-46"].details["id"] == "#0-46"
assert "<svg" in run["#0-46"]._repr_html_()
assert os.path.realpath(_command.command_path()).startswith(here), _command.command_path()
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libsnag" in line}
assert loaded and all(path.startswith(here) for path in loaded), loaded
print("snag", snag.version(), "in", sys.version.split()[0], len(run.calls), "calls")
END
# In an order that finds nothing of ours: no name in the environment, and another directory than that of the sources.
env -i PATH=/usr/bin:/bin HOME="$dir" TMPDIR="$dir" venv/bin/python try.py
