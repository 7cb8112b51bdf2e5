#!/usr/bin/env python3
"""Puts what it reads into a page, in place of a table that is there:

    COMMAND | tests/accuracy/page_table.py NAME docs/accuracy.md

between the lines "<!-- table NAME -->" and "<!-- end -->". Nothing is changed if it reads nothing.
"""
import pathlib
import re
import sys


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def replaced(page, name, text):
    """The page with another table."""
    place = re.compile(f"(<!-- table {name} -->\\n).*?(<!-- end -->)", re.DOTALL)
    return place.sub(lambda m: f"{m[1]}\n{text}\n\n{m[2]}", page)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    name, page = sys.argv[1], pathlib.Path(sys.argv[2])
    text, before = sys.stdin.read().strip("\n"), page.read_text()
    if f"<!-- table {name} -->" not in before:
        sys.exit(f"no table '{name}' in {page}")
    if not text:
        sys.exit("nothing to put there")
    page.write_text(replaced(before, name, text))


if __name__ == "__main__":
    main()
