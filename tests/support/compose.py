"""podman-compose as Docker's is: its messages are on stderr, and it fails with what it runs. Older ones hide that. Run by the Python
of podman-compose."""

import builtins
import runpy
import shutil
import sys

said = builtins.print
codes: list[object] = []


def message(*words: object, **options: object) -> None:
    if words[:1] == ("exit code:",):
        codes.append(words[1])
    said(*words, **options | {"file": sys.stderr})


builtins.print = message
sys.path.pop(0)
sys.argv[0] = shutil.which("podman-compose")
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    # With 125 podman refuses to make a container that is there; podman-compose then starts it.
    if any(code not in (0, 125, None) for code in codes):
        sys.exit(1)
