#!/usr/bin/env python3
"""The site that docs/site/make.py has made is whole.

    site.py SITE SNAG

Each link leads to a page and a place in it that are there; nothing is loaded from a network; each command has a page with
all of its options; the answers to the questions of somebody new are two clicks from the first page, without the navigation
at the side.
"""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

# A question, the page with its answer, and what that page has to say.
QUESTIONS = [
    ("What is a score?", "start/score.html", "once in 8,000"),
    ("How is a score made?", "algorithms.html", "Tails"),
    ("How do I get a trace of my Fortran program?", "recipes/fortran.html", "mpif90"),
    ("What does recording cost?", "tree/tracer/README.html#what-it-costs", "nanoseconds"),
    ("How do I gate CI?", "recipes/ci-gate.html", "--fail-on"),
    ("How do I get pandas tables?", "python.html#how-do-i-get-tables", "to_pandas"),
]
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


class Page(HTMLParser):
    """What a page has: places, links (those of its text apart), what it loads, its words."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links, self.in_text, self.loads, self.words = set(), [], [], [], []
        self.in_article = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.places.add(values["id"])
        if tag == "article":
            self.in_article = True
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
            if self.in_article:
                self.in_text.append(values["href"])
        if tag in LOADED and values.get(LOADED[tag]) and values.get("rel") not in ("canonical",):
            self.loads.append(values[LOADED[tag]])

    def handle_endtag(self, tag):
        if tag == "article":
            self.in_article = False

    def handle_data(self, data):
        if self.in_article:
            self.words.append(data)


def read_pages(site):
    """{path: Page} of all pages."""
    found = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                with open(path) as file:
                    found[os.path.relpath(path, site)] = Page(file.read())
    return found


def resolved(path, url):
    """The page and the place that a link of a page leads to; None: beyond the site."""
    if re.match(r"[a-z]+:|//", url):
        return None
    file, _, place = url.partition("#")
    file = unquote(file.partition("?")[0])
    to = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
    return to, unquote(place)


def check_links(site, pages):
    """Links and what is loaded: (how many, what is wrong)."""
    wrong, n = [], 0
    for path, page in sorted(pages.items()):
        for url in page.links + page.loads:
            leads = resolved(path, url)
            if leads is None:
                if url in page.loads and not url.startswith("data:"):
                    wrong.append("%s loads %s" % (path, url))
                continue
            n += 1
            to, place = leads
            if not os.path.exists(os.path.join(site, to)):
                wrong.append("%s: %s: there is no %s" % (path, url, to))
            elif place and to in pages and place not in pages[to].places:
                wrong.append("%s: %s: no such place" % (path, url))
    return n, wrong


def check_loaded(site):
    """Styles and scripts that would load something from a network, or from the root of a server."""
    wrong = []
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith((".css", ".js")):
                with open(os.path.join(folder, name), errors="replace") as file:
                    text = file.read()
                # A style begins with what it needs, or names it; a script asks for it.
                loads = r"@import[^;]*|url\(\s*[\"']?(?:https?:)?/[^)]*" if name.endswith(".css") else (
                    r"(?:fetch|import|importScripts)\(\s*[\"'](?:https?:)?//[^\"')]*"
                )
                for found in re.findall(loads, text):
                    wrong.append("%s has %s" % (name, found))
    return wrong


def check_questions(pages):
    """The answers are two clicks away, by links of texts alone."""
    wrong, at = [], {"index.html": 0}
    for click in (1, 2):
        for path in [path for path, clicks in at.items() if clicks == click - 1]:
            for url in pages[path].in_text:
                leads = resolved(path, url)
                if leads and leads[0] in pages:
                    at.setdefault(leads[0], click)
    for question, answer, words in QUESTIONS:
        path, _, place = answer.partition("#")
        if path not in pages or (place and place not in pages[path].places):
            wrong.append("%s: there is no %s" % (question, answer))
        elif path not in at:
            wrong.append("%s: %s is more than two clicks away" % (question, answer))
        elif words not in " ".join("".join(pages[path].words).split()):
            wrong.append("%s: %s does not say '%s'" % (question, answer, words))
    return wrong


def check_commands(pages, snag):
    """Each command has a page with all of its options."""
    wrong = []
    listed = re.search(r"^commands:\n(.*?)\n\n", subprocess.check_output([snag, "help"], text=True), re.S | re.M).group(1)
    for name in re.findall(r"^  ([a-z-]+) ", listed, re.M):
        page = pages.get("commands/%s.html" % name)
        said = "".join(page.words) if page else ""
        for option in re.findall(r"^  .{4}(--[a-z-]+)", subprocess.check_output([snag, "help", name], text=True), re.M):
            if option not in said:
                wrong.append("the page of snag %s does not say %s" % (name, option))
    return wrong


def main():
    site, snag = sys.argv[1:3]
    pages = read_pages(site)
    n, wrong = check_links(site, pages)
    wrong += check_loaded(site) + check_questions(pages) + check_commands(pages, snag)
    if not os.path.exists(os.path.join(site, "searchindex.js")):
        wrong.append("there is no index to search in")
    print("\n".join(wrong + ["%d pages, %d links, %d things wrong" % (len(pages), n, len(wrong))]))
    return bool(wrong) or len(pages) < 50 or n < 1000


if __name__ == "__main__":
    sys.exit(main())
