#!/usr/bin/env python3
"""Makes the documentation site: make.py SNAG SOURCE OUT

docs/*.md are the source. docs/README.md is the first page and says the navigation: a section is a heading, its pages are the
first links of the items below. Pages outside of docs/ that one of these leads to come along, below tree/; links to files that
are no pages become their paths. Commands, functions of C and of Python are added by generated.py. OUT is replaced.
"""

import os
import re
import shutil
import subprocess
import sys

import generated

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
HERE = os.path.dirname(os.path.abspath(__file__))


def outside_blocks(text, change):
    """Markdown, with all changed that stands outside of fenced blocks."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


class Site:
    """The pages of the site, from the paths of the repository to those of the site."""

    def __init__(self, source, stage):
        self.source, self.stage = source, stage
        self.place, self.waiting = {}, []
        self.take("docs/README.md")
        for folder in ("docs", "docs/start", "docs/recipes"):
            for name in sorted(os.listdir(os.path.join(source, folder))):
                if name.endswith(".md"):
                    self.take(folder + "/" + name)

    def take(self, path):
        """The place of a page, which is written later if it is new."""
        if path not in self.place:
            inside = path[5:] if path.startswith("docs/") else "tree/" + path
            self.place[path] = "index.md" if path == "docs/README.md" else inside
            self.waiting.append(path)
        return self.place[path]

    def target(self, path, url):
        """What a link of a page becomes: (url, is it a link still)."""
        file, _, anchor = url.partition("#")
        if re.match(r"[a-z]+:", url) or not file:
            return url, True
        full = os.path.normpath(os.path.join(os.path.dirname(path), file))
        if os.path.isfile(os.path.join(self.source, full, "README.md")):
            full += "/README.md"
        here = os.path.dirname(self.place[path])
        if full.endswith(".md") and os.path.isfile(os.path.join(self.source, full)):
            return os.path.relpath(self.take(full), here) + ("#" + anchor if anchor else ""), True
        if re.search(r"\.(png|svg)$", full):
            to = full[5:] if full.startswith("docs/") else "tree/" + full
            os.makedirs(os.path.dirname(os.path.join(self.stage, to)), exist_ok=True)
            shutil.copyfile(os.path.join(self.source, full), os.path.join(self.stage, to))
            return os.path.relpath(to, here), True
        if not os.path.exists(os.path.join(self.source, full)):  # no link, but code that looks like one
            return url, True
        return full, False

    def write_all(self):
        """All pages that were taken, and those that they lead to."""
        while self.waiting:
            path = self.waiting.pop()

            def changed(match):
                picture, text, url = match.groups()
                to, is_link = self.target(path, url)
                if is_link:
                    return "%s[%s](%s)" % (picture, text, to)
                return text if to in text.replace("`", "") else "%s (`%s`)" % (text, to)

            with open(os.path.join(self.source, path)) as file:
                text = file.read()
            self.write(self.place[path], outside_blocks(text, lambda part: LINK.sub(changed, part)))

    def write(self, place, text):
        """A page of the site."""
        to = os.path.join(self.stage, place)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with open(to, "w") as file:
            file.write(text)


def sections(text):
    """[(title, [(what it is called, page)])] of the first page; each page once in all."""
    found, seen = [], set()
    for line in text.split("\n"):
        if line.startswith("## "):
            found.append((line[3:], []))
        item = re.match(r"- \[(.*?)\]\(([^()#]+)", line)
        if item and found and item.group(2) not in seen:
            seen.add(item.group(2))
            found[-1][1].append((item.group(1).replace("`", ""), item.group(2)))
    return found


def add_generated(site, snag):
    """The pages that are made of the program: [(section, title, place)]."""
    added = []
    commands = generated.commands(snag)
    for name, purpose in commands:
        place = "commands/%s.md" % name
        site.write(place, generated.command_page(name, generated.said(snag, "help", name), [one for one, _ in commands]))
        added.append(("Commands", "[`snag %s`](%s): %s" % (name, place, generated.escaped(purpose)), place))
    site.write("reference/c.md", generated.c_page(os.path.join(site.source, "include/snag/snag.h")))
    added.append(("Reference", "[The library: functions in C](reference/c.md)", "reference/c.md"))
    site.write("reference/python.md", generated.python_page(os.path.join(site.source, "python/snag")))
    added.append(("Reference", "[Python: classes and functions](reference/python.md)", "reference/python.md"))
    return added


def with_item(text, section, item):
    """The first page, with one item more at the end of a section."""
    before, heading, rest = text.partition("## %s\n" % section)
    inside, following, after = rest.partition("\n## ")
    inside = inside.rstrip("\n")
    gap = "\n" if inside.rsplit("\n", 1)[-1].startswith("- ") else "\n\n"
    return before + heading + inside + gap + "- " + item + "\n" + following + after


def finish_first_page(site, added):
    """The first page with the pages that were made, and the navigation."""
    with open(os.path.join(site.stage, "index.md")) as file:
        text = file.read()
    for section, item, _ in added:
        text = with_item(text, section, item)
    named = set()
    for title, pages in sections(text):
        text += "\n```{toctree}\n:hidden:\n:caption: %s\n\n%s\n```\n" % (title, "\n".join("%s <%s>" % (called, page[:-3]) for called, page in pages))
        named.update(page for _, page in pages)
    site.write("index.md", text)
    # Pages that only others lead to are not in the navigation.
    for place in set(site.place.values()) - named - {"index.md"}:
        with open(os.path.join(site.stage, place)) as file:
            page = file.read()
        site.write(place, "---\norphan: true\n---\n\n" + page)


def take_in_styles(out):
    """Debian's furo leaves a style to a web server's /javascript: it is put where it is asked for."""
    path = os.path.join(out, "_static/styles/furo.css")
    with open(path) as file:
        text = file.read()

    def content(match):
        with open("/usr/share/javascript/" + match.group(1)) as style:
            return style.read()

    with open(path, "w") as file:
        file.write(re.sub(r"@import url\(/javascript/([^)]*)\);", content, text))


def take_in_script(out):
    """Debian's furo leaves its script to a bundler: what it imports is put in front of it."""
    folder = os.path.join(out, "_static/scripts")
    with open(os.path.join(folder, "furo.js")) as file:
        text = file.read()
    if text.startswith("import "):
        with open(os.path.join(folder, "gumshoe-patched.js")) as file:
            imported = file.read()
        with open(os.path.join(folder, "furo.js"), "w") as file:
            file.write(imported + "\n" + text.partition("\n")[2])


# What the theme leaves out for who does not see or has no mouse: of captions of the navigation, which level of heading they
# are; code that is wider than the page is moved by keys, too.
MENDED = [('class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"'), ("<pre>", '<pre tabindex="0">')]


def mend(out):
    """Pages as MENDED says."""
    for folder, _, names in os.walk(out):
        for name in [name for name in names if name.endswith(".html")]:
            path = os.path.join(folder, name)
            with open(path) as file:
                text = file.read()
            for what, instead in MENDED:
                text = text.replace(what, instead)
            with open(path, "w") as file:
                file.write(text)


def main():
    snag, source, out = (os.path.abspath(argument) for argument in sys.argv[1:4])
    stage = out + ".source"
    shutil.rmtree(stage, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    site = Site(source, stage)
    site.write_all()
    finish_first_page(site, add_generated(site, snag))
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", HERE]
    status = subprocess.run(command + ["-d", stage + "/_build", stage, out]).returncode
    shutil.rmtree(stage)
    if status == 0:
        take_in_styles(out)
        take_in_script(out)
        mend(out)
    return status


if __name__ == "__main__":
    sys.exit(main())
