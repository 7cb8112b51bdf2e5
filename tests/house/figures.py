#!/usr/bin/env python3
"""How large the program is, and into what it is cut.

    tests/house/figures.py [TREE ...]      the directory of each checkout; a column each

Of src/ without tests, where it says nothing else. Nothing here fails: it counts.
"""
import pathlib
import re
import statistics
import sys

SAME_LINES = 12  # that follow each other, to be a duplicate


def sources(root, folder="src"):
    return [x for x in sorted((root / folder).rglob("*.[ch]")) if not x.stem.endswith("_test") and not
            x.stem.startswith("sample_")]


def functions(lines):
    """(first line, last line, name, is static) of each: a brace at the beginning of a line opens one."""
    begin = None
    for i, line in enumerate(lines):
        if line == "{":
            begin = i
        elif line == "}" and begin is not None:
            head = begin
            while head > 0 and re.match(r"[A-Za-z_ ]", lines[head - 1]) and not lines[head - 1].endswith(";"):
                head -= 1
            text = " ".join(lines[head:begin])
            name = re.search(r"(\w+)\(", text)
            if name:
                yield begin, i, name.group(1), text.startswith("static")
            begin = None


def without_comments(text):
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S)


def duplicates(files):
    """Windows of lines that are also elsewhere, by what they begin with; braces and blank lines do not count."""
    seen, twice = {}, 0
    for text in files:
        lines = [x.strip() for x in text.split("\n")]
        lines = [x for x in lines if len(x) > 2 and not x.startswith("#include")]
        last = -SAME_LINES
        for i in range(len(lines) - SAME_LINES + 1):
            window = hash(tuple(lines[i:i + SAME_LINES]))
            if window in seen and i - last >= SAME_LINES:
                twice += 1
                last = i
            seen.setdefault(window, i)
    return twice


def figures(root):
    files = sources(root)
    text = {x: x.read_text() for x in files}
    code = {x: without_comments(text[x]) for x in files}
    c = [x for x in files if x.suffix == ".c"]
    lines = {x: text[x].count("\n") for x in files}
    lengths, once, n_static = [], 0, 0
    for x in c:
        body = code[x].split("\n")
        found = list(functions(body))
        for begin, end, name, is_static in found:
            lengths.append(end - begin - 1)
            n_static += is_static
            mentions = len(re.findall(rf"\b{name}\b", code[x]))
            calls = len(re.findall(rf"\b{name}\(", code[x]))
            once += is_static and end - begin - 1 < 8 and mentions == calls == 2  # a row of a table is no call
    n_comment = sum(m.count("\n") + 1 for x in files for m in re.findall(r"/\*.*?\*/", text[x], flags=re.S))
    headers = [x for x in files if x.suffix == ".h"]
    exported = sum(len(re.findall(r"^(?!static|typedef|#)[\w ]+\*?\b[a-z]\w*\([^;{]*\);", code[x], flags=re.M)) for x in headers)
    total = sum(lines.values())
    folders = {x.parent for x in files}
    lengths.sort()
    return {
        "lines": total,
        "... of them in headers": sum(lines[x] for x in headers),
        ".c files": len(c),
        "... median of their lines": statistics.median(lines[x] for x in c),
        "... under 80 lines": sum(lines[x] < 80 for x in c),
        "files per 50,000 lines": round(len(files) * 50000 / total),
        "functions": len(lengths),
        "... lines between the braces, median": statistics.median(lengths),
        "... 99 % are below": lengths[len(lengths) * 99 // 100],
        "... the longest": lengths[-1],
        "static functions": n_static,
        "... called once, under 8 lines": once,
        "functions in headers": exported,
        "lines with comments, %": round(100 * n_comment / total, 1),
        f"places with {SAME_LINES} lines that are elsewhere": duplicates(code[x] for x in files),
        "folders": len(folders),
        "lines of tests beside them": sum(x.read_text().count("\n") for x in (root / "src").rglob("*_test.c")),
        "lines of tracer/": sum(x.read_text().count("\n") for x in sources(root, "tracer")),
    }


def main():
    trees = [pathlib.Path(x) for x in sys.argv[1:] or ["."]]
    columns = [figures(x) for x in trees]
    for name in columns[0]:
        print(f"{name:44}" + "".join(f"{c[name]:>12,}" for c in columns))


main()
