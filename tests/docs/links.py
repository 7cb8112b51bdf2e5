#!/usr/bin/env python3
"""All links among the pages of the repository lead to something: a file or folder that is there, a heading of that page.

    links.py SOURCE

Addresses beyond the repository are not looked at.
"""

import os
import re
import sys

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\)")


def without_code(text):
    """The page without fenced and indented blocks; code in a line becomes an x."""
    text = re.sub(r"^( *)(```+|~~~+).*?^ *\2 *$", "", text, flags=re.S | re.M)
    text = re.sub(r"(?<=\n\n)(?:(?: {4}|\t)(?![-*] ).*\n)+", "", text)
    # Not from one paragraph, row or item to the next: a backtick that stands alone is none of code.
    return re.sub(r"(?<!`)(`+)(?!`)((?!\n\s*\n|\n\s*[-|] ).)+?(?<!`)\1(?!`)", "x", text, flags=re.S)


def slugs(text):
    """The anchors of a page's headings, as GitHub makes them."""
    found, n = set(), {}
    text = re.sub(r"^( *)(```+|~~~+).*?^ *\2 *$", "", text, flags=re.S | re.M)
    for heading in re.findall(r"^#{1,6} +(.*?)(?: +#+)?$", text, re.M):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(slug if slug not in n else "%s-%d" % (slug, n[slug]))
        n[slug] = n.get(slug, 0) + 1
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def pages(source):
    """The paths of all pages: not of what is built or fetched."""
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name not in (".git", "build", "node_modules", "out") and not name.startswith(".")]
        for name in names:
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), source)


def main():
    source = sys.argv[1]
    texts = {}
    for path in pages(source):
        with open(os.path.join(source, path)) as file:
            texts[path] = file.read()
    anchors = {path: slugs(text) for path, text in texts.items()}
    n = n_broken = 0
    for path, text in sorted(texts.items()):
        for url in LINK.findall(without_code(text)):
            if re.match(r"[a-z]+:", url):
                continue
            n += 1
            file, _, anchor = url.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            why = None
            if not os.path.exists(os.path.join(source, to)):
                why = "there is no " + to
            elif anchor and to in anchors and anchor not in anchors[to]:
                why = "%s has no heading #%s" % (to, anchor)
            if why:
                n_broken += 1
                print("%s: %s: %s" % (path, url, why))
    print("%d links in %d pages, %d broken" % (n, len(texts), n_broken))
    return n_broken > 0 or n == 0


if __name__ == "__main__":
    sys.exit(main())
