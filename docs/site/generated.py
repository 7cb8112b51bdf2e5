"""Pages that are made of the program itself: a page for each command of what `snag help` prints, the functions of
include/snag/snag.h, the docstrings of python/snag."""

import ast
import os
import re
import subprocess
import textwrap


def marked(text):
    """A line of prose in which `code` and *emphasis* are markup already, and nothing else is."""
    text = re.sub(r"``([^`]+)``", r"`\1`", re.sub(r":\w+:`~?([^`]+)`", r"`\1`", " ".join(text.split())))
    parts = re.split(r"(`[^`]*`|\bsnag_\w*[a-z])", text)
    return "".join(
        (part if part[0] == "`" else "`%s`" % part) if i % 2 else re.sub(r"([\\_<>\[\]|#$])", r"\\\1", part)
        for i, part in enumerate(parts)
    )


def said(snag, *arguments):
    """What the program prints."""
    return subprocess.run([snag, *arguments], check=True, capture_output=True, text=True).stdout


def escaped(text, pages=(), own=None):
    """Plain text as Markdown: nothing in it is markup, but options, and commands, which are code; those of `pages`, but `own`, are links."""

    def command(match):
        name = match.group(1)
        return "[`snag %s`](%s.md)" % (name, name) if name in pages and name != own else "`snag %s`" % name

    text = re.sub(r"([\\`*_<>\[\]|#$])", r"\\\1", text)
    text = re.sub(r"(?<![\w-])(--?[a-z][a-z-]*(?: (?:[A-Z]{2,}|loop|lost|cost)\b)?)", r"`\1`", text)
    return re.sub(r"\bsnag (%s|help|man formats)\b(?![\w-])" % "|".join(pages), command, text) if pages else text


def commands(snag):
    """[(name, what it is for)], in the order of `snag help`."""
    listed = re.search(r"^commands:\n(.*?)\n\n", said(snag, "help"), re.S | re.M).group(1)
    return re.findall(r"^  ([a-z-]+) +(.*)$", listed, re.M)


def options(text):
    """[(how it is written, what it does)] of a help text."""
    found = []
    for line in re.search(r"^options:\n(.*?)(\n\n|\Z)", text, re.S | re.M).group(1).split("\n"):
        begin = re.match(r"  (?:(-\w), |    )(--[a-z-]+)( [^ ]+)?(?: {2,}(.*))?$", line)
        if begin:
            short, name, value, rest = begin.groups()
            found.append([(short + ", " if short else "") + name + (value or ""), [rest or ""]])
        else:
            found[-1][1].append(line.strip())
    return [(name, " ".join(" ".join(words).split())) for name, words in found]


def command_page(name, text, names):
    """The page of a command, of its help; `names` are those of all commands."""
    usage, rest = text.split("\n\n", 1)
    about = rest.split("\noptions:\n")[0]
    page = ["# snag " + name, "", "```text", usage.replace("usage: ", ""), "```", ""]
    for paragraph in about.strip().split("\n\n"):
        if paragraph.startswith(" "):
            page += ["```text", paragraph, "```", ""]
        else:
            words = escaped(" ".join(paragraph.split()), names, name)
            if len(page) == 6:
                words = words[0].upper() + words[1:]
            else:  # a word that is explained stands out
                words = re.sub(r"^([a-z][a-z -]*):", r"*\1*:", words)
            page += [words, ""]
    page += ["## Options", "", "| option | what it does |", "|---|---|"]
    page += ["| `%s` | %s |" % (written.replace("|", "\\|"), escaped(does, names, name)) for written, does in options(text)]
    examples = text.split("\nexamples:\n")
    if len(examples) > 1:
        page += ["", "## Examples", "", "```text", textwrap.dedent(examples[1]).rstrip(), "```"]
    return "\n".join(page) + "\n"


def comment_prose(comment):
    """The text of a comment of C, without its stars."""
    lines = comment.strip()[2:-2].split("\n")
    return textwrap.dedent("\n".join(re.sub(r"^ ?\*? ?", "", line, count=1) for line in lines)).strip()


def prose(text):
    """Paragraphs as Markdown; what is indented is code."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text):
        if re.search(r"^ ", paragraph, re.M):
            parts += ["```text", paragraph, "```", ""]
        else:
            parts += [marked(paragraph), ""]
    return parts


def c_page(header):
    """The page of the library's functions: what its header says, in its order."""
    with open(header) as file:
        text = file.read()
    page = ["# The library: functions in C", ""]
    page += prose(comment_prose(re.match(r"/\*.*?\*/", text, re.S).group()))
    body = text[text.index("\nenum snag_error {") : text.rindex("#ifdef __cplusplus")]
    for block in re.split(r"\n\s*\n", body):
        title = re.match(r"/\* -{10,} (.*?) \*/", block.strip())
        if title:
            name = title.group(1)
            page += ["## " + name[0].upper() + name[1:], ""]
            continue
        code = re.sub(r"/\*.*?\*/", "", block, flags=re.S)
        names = re.findall(r"^SNAG_API[^(]*?\b(snag_[a-z_]+)\(|^(?:struct|enum) (\w+) \{", code, re.M)
        names = [function or kind for function, kind in names]
        if names:
            page += ["### " + ", ".join("`%s`" % one for one in names), ""]
        comment = re.match(r"\s*(/\*.*?\*/)", block, re.S)
        if comment and not re.match(r"[^\n]*\S", block[comment.end() :]):
            page += prose(comment_prose(comment.group(1)))
            block = block[comment.end() :]
        block = textwrap.dedent(block).strip("\n").replace("SNAG_API ", "")
        if block:
            page += ["```c", block, "```", ""]
    return "\n".join(page) + "\n"


def python_text(docstring):
    """A docstring as Markdown: sessions are code, names of the package are code."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", docstring):
        if paragraph.lstrip().startswith(">>>"):
            parts += ["```python", textwrap.dedent(paragraph), "```", ""]
        else:
            parts += [marked(paragraph), ""]
    return parts


def python_members(node, level):
    """A public class, function or name for a type, and what is public in it."""
    heading = "#" * level + " "
    if isinstance(node, ast.Assign):
        return [heading + "`%s`" % node.targets[0].id, "", "```python", ast.unparse(node), "```", ""]
    if isinstance(node, ast.ClassDef):
        page = [heading + "class `%s`" % node.name, ""] + python_text(ast.get_docstring(node) or "")
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") and ast.get_docstring(member):
                page += python_members(member, level + 1)
        return page
    is_property = any(getattr(one, "id", "") == "property" for one in node.decorator_list)
    written = node.name if is_property else "%s(%s)" % (node.name, ast.unparse(node.args))
    written = re.sub(r"^(\w+)\(self(, )?", r"\1(", written)
    page = [heading + "`%s`" % node.name, "", "```python", written + (" -> " + ast.unparse(node.returns) if node.returns else ""), "```", ""]
    return page + python_text(ast.get_docstring(node) or "")


def python_page(package):
    """The page of the package: what `__all__` names, with its docstrings."""
    found, public = {}, []
    for name in sorted(os.listdir(package)):
        if name.endswith(".py"):
            with open(os.path.join(package, name)) as file:
                tree = ast.parse(file.read())
            for node in tree.body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    found.setdefault(node.name, node)
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    found.setdefault(node.targets[0].id, node)
            if name == "__init__.py":
                public, about = ast.literal_eval(found["__all__"].value), ast.get_docstring(tree)
    page = ["# Python: classes and functions", ""] + python_text(about)
    for name in sorted(public, key=lambda name: (isinstance(found[name], ast.ClassDef), name)):
        page += python_members(found[name], 2)
    return "\n".join(page) + "\n"
