#!/usr/bin/env python3
"""Every message of the program in one list, to be read from top to bottom as its users would.

    tests/house/messages.py [TREE]        errors, log lines, what commands print, sentences of reasons and causes
"""
import pathlib
import re
import sys

SAYING = r"\b(err_set|log_info|log_warn|log_error|print|text_say|options_refuse|usage)\("
TEXT = r'((?:"(?:\\.|[^"\\])*"\s*(?:PRI\w+\s*)?)+)'


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for path in sorted((root / "src").rglob("*.c")):
        if path.stem.endswith("_test"):
            continue
        for match in re.finditer(SAYING + r'[^";]*?' + TEXT, path.read_text()):
            text = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', match.group(2))).strip()
            if re.search(r"[a-z]{2,} [a-z%']", text):
                print(f"{path.parent.name}/{path.name}: {text}")


main()
