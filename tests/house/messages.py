#!/usr/bin/env python3
"""Every message of the program in one list with file and line, to be read from top to bottom as its users would.

    tests/house/messages.py [TREE]        errors, refusals, log lines, what commands print, sentences of reasons and causes, help

A message is any text of src/, tracer/ and web/src/ that has two words: it is taken from the text itself, not from the function
that is called with it, so both branches of ?:, tables, macros and what snprintf puts together are there, and of the page what
stands between tags. Left out are SQL, the JSON and HTML that programs read, names of CSS classes, and what assert, a test or a
comment has. Texts that stand side by side are one.
"""
import pathlib
import re
import sys

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      |(?P<include>^[ \t]*\#[ \t]*include[^\n]*)
      |(?P<assert>\b(?:static_assert|_Static_assert|assert)\s*\()
      |(?P<text>"(?:\\.|[^"\\\n])*")
      |(?P<char>'(?:\\.|[^'\\\n])+')
      |(?P<joint>\bPRI\w+|\s+|\\\n)
      |(?P<other>.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
PAGE = re.compile(
    r"""(?P<comment>/\*.*?\*/|(?<!:)//[^\n]*)
      |(?P<class>\bclass=(?:"[^"]*"|\{[^`{}]*(?:`[^`]*`[^`{}]*)*\}))
      |(?P<text>"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)
      |(?<=[>}])\s*(?P<between>[,.]?\s*[A-Za-z][^<>{}=;"`]*)(?=[<{])""",
    re.VERBOSE | re.DOTALL,
)
VALUE = re.compile(r"\$\{[^{}]*\}")
CODE = re.compile(r"[,.\s]*(if|else|for|while|return|const|let|function|async|export|import|interface|type|case|catch|finally|of|as)\b|.*\w\(")
DRAWN = re.compile(r"#version|.*\b(system-ui|sans-serif)\b")
SQL = re.compile(
    r"^\W*(SELECT|INSERT|CREATE|UPDATE|DELETE|PRAGMA|BEGIN|COMMIT|DROP|ALTER|ATTACH|DETACH|WITH|FROM|WHERE|ORDER|GROUP|JOIN|LEFT|"
    r"AND|OR|UNION|SET|VALUES|LOCK|COPY|TABLE|INDEX|ANALYZE|LISTEN|NOTIFY|REPLACE|SAVEPOINT|ROLLBACK|RELEASE|EXISTS|NOT|ON|CASE|"
    r"WHEN|LIMIT|GRANT|CAST|COALESCE)\b[^a-z]"
)
WORDS = re.compile(r"[A-Za-z]{2,}[,;:]? [a-z%'(#0-9]")
MARKUP = re.compile(r'^\s*[{\[<]|\\":|</|^[a-z]+=')


def texts(source):
    """Yields (line, text) of each run of adjacent string literals outside of comments, includes and assertions."""
    line, begin, parts, depth = 1, 0, [], 0
    for token in TOKEN.finditer(source):
        kind, value = token.lastgroup, token.group()
        if kind == "text" and not depth:
            begin = begin or line
            parts.append(value[1:-1])
        elif kind not in ("joint", "comment") and parts:
            yield begin, "".join(parts)
            begin, parts = 0, []
        if kind == "assert":
            depth = 1
        elif depth and value in "()":
            depth += 1 if value == "(" else -1
        line += value.count("\n")


def page_texts(source, has_tags):
    """Yields (line, text) of each text of a file of the page; values in it are %."""
    for token in PAGE.finditer(source):
        kind, value = token.lastgroup, token.group(token.lastgroup)
        if kind == "text" and not DRAWN.match(value) or kind == "between" and has_tags and not CODE.match(value):
            yield source.count("\n", 0, token.start(kind)) + 1, VALUE.sub("%", value).strip('"`')


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    paths = [p for top in ("src", "tracer") for p in (root / top).rglob("*.[ch]")] + list((root / "web/src").rglob("*.ts*"))
    for path in sorted(paths):
        if path.stem.endswith("_test") or "tests" in path.parts:
            continue
        source = path.read_text()
        for line, text in texts(source) if path.suffix in (".c", ".h") else page_texts(source, path.suffix == ".tsx"):
            if WORDS.search(text) and not SQL.match(text) and not MARKUP.search(text):
                print(f"{path.relative_to(root)}:{line}: {' '.join(text.replace(chr(92) + 'n', ' ').split())}")


main()
