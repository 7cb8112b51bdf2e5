"""Drawings for a notebook: SVG and HTML as text, which nothing else has to be loaded for.

Colours are one for what is typical and one for what is strange, which is also larger or named
in words: nothing is said by colour alone.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from ._run import Execution, Run
    from ._table import Table

_TYPICAL, _STRANGE, _LINE = "#4a7ebb", "#c0392b", "#999"
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
_STYLE = 'font-family="sans-serif" font-size="12" fill="currentColor"'


class Drawing:
    """A picture: ``svg`` is its text; a notebook shows it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str) -> None:
        """Write it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self) -> str:
        return "<snag.Drawing of %d bytes of SVG>" % len(self.svg)


def said(text: object, most: int = 0) -> str:
    """A text as SVG and HTML take it; of more than ``most`` characters begin and end."""
    whole = _CONTROL.sub("\ufffd", str(text))
    if 0 < most < len(whole):
        whole = whole[: most // 2] + "\u2026" + whole[len(whole) - most // 2 + 1 :]
    return escape(whole)


def duration(ns: float) -> str:
    """A time for people, of three digits.

    >>> duration(8166227), duration(995), duration(-66435), duration(12e9)
    ('8.17 ms', '995 ns', '-66.4 us', '12.0 s')
    """
    size = abs(ns)
    if size < 999.5:
        return "%d ns" % round(ns)
    for unit, factor in (("us", 1e3), ("ms", 1e6), ("s", 1e9)):
        if size < 999.5 * factor or unit == "s":
            digits = 2 if size < 9.995 * factor else 1 if size < 99.95 * factor else 0
            return "%.*f %s" % (digits, ns / factor, unit)
    raise AssertionError


def _svg(width: int, height: int, parts: Sequence[str], label: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
        'role="img" aria-label="%s" %s>%s</svg>'
        % (width, height, width, height, said(label), _STYLE, "".join(parts))
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return '<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>' % (x, y, anchor, text)


# ------------------------------------------------------------------- the tree of an execution

_MAX_ROWS = 40


class _Path:
    """A call path of an execution: what its calls took together."""

    def __init__(self, region: int, depth: int, names: Tuple[str, ...]) -> None:
        self.region, self.depth, self.names = region, depth, names
        self.n_calls = self.inclusive_ns = self.exclusive_ns = 0
        self.below: Dict[int, _Path] = {}


def call_paths(execution: Execution) -> _Path:
    """The call paths of a tree. O(vertices)."""
    tree = execution.tree
    names = tree.column("region").names or []
    columns = [tree.column(name).contiguous(0, len(tree)) for name in tree.names]
    region, parent, _, inclusive, exclusive = columns
    root = _Path(region[0], 0, (names[region[0]],))
    path_of = [root] * len(tree)
    for i in range(len(tree)):
        if i > 0:
            above = path_of[parent[i]]
            path = above.below.get(region[i])
            if path is None:
                path = _Path(region[i], above.depth + 1, above.names + (names[region[i]],))
                above.below[region[i]] = path
            path_of[i] = path
        path_of[i].n_calls += 1
        path_of[i].inclusive_ns += inclusive[i]
        path_of[i].exclusive_ns += exclusive[i]
    return root


def _took(path: _Path) -> int:
    return int(path.inclusive_ns)


def _in_order(root: _Path) -> List[_Path]:
    """Callers before callees, those that took longest first."""
    out, open_paths = [], [root]
    while open_paths:
        path = open_paths.pop()
        out.append(path)
        open_paths += sorted(path.below.values(), key=_took)
    return out


def tree_svg(execution: Execution, excess_ns: Dict[Tuple[str, ...], int]) -> str:
    """Call paths, a line each: inclusive time as a bar, beyond typical in the other colour.

    ``excess_ns``: by how much the own calls of a path took longer than typical, where that is
    known.
    """
    root = call_paths(execution)
    paths = _in_order(root)
    n_left_out = 0
    if len(paths) > _MAX_ROWS:
        least = sorted((path.inclusive_ns for path in paths), reverse=True)[_MAX_ROWS - 1]
        kept = [path for path in paths if path.inclusive_ns >= least][:_MAX_ROWS]
        n_left_out, paths = len(paths) - len(kept), kept
    scale = 220.0 / max(root.inclusive_ns, 1)
    parts, y = [], 16.0
    parts.append(_text(310, y, "inclusive") + _text(610, y, "own", "end"))
    parts.append(_text(690, y, "excess", "end"))
    for path in paths:
        y += 18
        excess = excess_ns.get(path.names, 0)
        beyond = min(max(excess, 0), path.inclusive_ns)
        label = said(path.names[-1], 44 - min(2 * path.depth, 24))
        if path.n_calls > 1:
            label += " \u00d7 %d" % path.n_calls
        parts.append("<g><title>%s</title>" % said(" > ".join(path.names)))
        parts.append(_text(4 + 10 * min(path.depth, 12), y, label))
        parts.append(
            '<rect x="310" y="%.1f" width="%.1f" height="11" fill="%s"/>'
            % (y - 10, scale * path.inclusive_ns, _TYPICAL)
        )
        if beyond > 0:
            parts.append(
                '<rect x="%.1f" y="%.1f" width="%.1f" height="11" fill="%s"/>'
                % (
                    310 + scale * (path.inclusive_ns - beyond),
                    y - 10,
                    max(scale * beyond, 1),
                    _STRANGE,
                )
            )
        parts.append(_text(610, y, duration(path.exclusive_ns), "end"))
        if path.names in excess_ns and abs(excess) * 1000 >= root.inclusive_ns:
            parts.append(_text(690, y, ("+" if excess > 0 else "") + duration(excess), "end"))
        parts.append("</g>")
    if n_left_out:
        y += 18
        parts.append(_text(4, y, "%d quicker call paths are not drawn" % n_left_out))
    return _svg(700, int(y) + 8, parts, "call paths of %s" % execution.id)


def execution_html(execution: Execution) -> str:
    """An execution: what it is, why it is strange, its tree."""
    excess, note = execution.excess()
    out = "<div><b>%s %s</b>: %s, %s, score %.2f<br>%s</div>%s" % (
        said(execution.function),
        said(execution.id),
        "anomaly" if execution.is_anomaly else "normal",
        duration(execution.duration_ns),
        execution.score,
        said(execution.why),
        tree_svg(execution, excess),
    )
    return out + ("<div>%s</div>" % said(note) if note else "")


# ------------------------------------------------------------------------------- a timeline

_MAX_BARS = 4000


def timeline_svg(execution: Execution, width: int) -> str:
    """Calls of an execution over time, callers above callees: a bar for each."""
    tree = execution.tree
    names = tree.column("region").names or []
    columns = [tree.column(name).contiguous(0, len(tree)) for name in tree.names]
    region, parent, enter, inclusive, _ = columns
    depth = [0] * len(tree)
    for i in range(1, len(tree)):
        depth[i] = depth[parent[i]] + 1
    scale = (width - 8) / max(inclusive[0], 1)
    drawn = [i for i in range(len(tree)) if scale * inclusive[i] >= 0.2 or i == 0]
    if len(drawn) > _MAX_BARS:
        drawn = sorted(sorted(drawn, key=lambda i: -int(inclusive[i]))[:_MAX_BARS])
    parts = []
    for i in drawn:
        x, w, y = 4 + scale * (enter[i] - enter[0]), scale * inclusive[i], 4 + 18 * depth[i]
        name = names[region[i]]
        parts.append(
            '<g><title>%s, %s</title><rect x="%.2f" y="%d" width="%.2f" height="17" fill="%s" '
            'stroke="#fff" stroke-width="0.5"/>'
            % (said(name), duration(inclusive[i]), x, y, max(w, 0.3), _colour(name))
        )
        if w > 40:
            text = said(name, int(w / 7))
            parts.append(
                '<text x="%.2f" y="%d" fill="#111" font-size="11">%s</text>'
                % (x + 3, y + 13, text)
            )
        parts.append("</g>")
    height = 4 + 18 * (max(depth[i] for i in drawn) + 1)
    caption = "%s, entered at %s" % (duration(inclusive[0]), duration(enter[0]))
    if len(drawn) < len(tree):
        caption += "; not drawn, as too short: %d of %d calls" % (
            len(tree) - len(drawn),
            len(tree),
        )
    parts.append(_text(4, height + 14, said(caption)))
    return _svg(width, height + 22, parts, "timeline of %s" % execution.id)


def _colour(name: str) -> str:
    """The same for the same name, light enough for dark letters."""
    hue = 0
    for letter in name:
        hue = (hue * 31 + ord(letter)) % 360
    return "hsl(%d,55%%,72%%)" % hue


# -------------------------------------------------------------------------------- a scatter

_MAX_POINTS = 4000


def scatter_svg(run: Run, width: int = 700, height: int = 260) -> str:
    """Executions of a run: when each was entered, how long it took; anomalies are larger."""
    table = run.executions
    n = len(table)
    names = ("enter_ns", "duration_ns", "is_anomaly")
    enter, took, strange = [table.column(name).contiguous(0, n) for name in names]
    parts = []
    if n == 0:
        return _svg(width, 40, [_text(8, 24, "no executions")], "executions")
    last, longest = max(max(enter), 1), max(max(took), 1)
    step = max(n // _MAX_POINTS, 1)
    rows = [i for i in range(n) if not strange[i] and i % step == 0]
    n_strange = sum(strange)
    rows += [i for i in range(n) if strange[i]][:: max(n_strange // _MAX_POINTS, 1)]
    for i in rows:
        parts.append(
            '<circle cx="%.1f" cy="%.1f" r="%s" fill="%s"/>'
            % (
                60 + (width - 76) * enter[i] / last,
                height - 30 - (height - 50) * took[i] / longest,
                "3.5" if strange[i] else "1.5",
                _STRANGE if strange[i] else _TYPICAL,
            )
        )
    axis = '<path d="M60 12V%dH%d" fill="none" stroke="%s"/>' % (height - 30, width - 12, _LINE)
    parts.append(axis)
    parts.append(_text(56, 22, duration(longest), "end") + _text(56, height - 30, "0", "end"))
    caption = "entered, 0 to %s; %d executions of %s, %d anomalies" % (
        duration(last),
        n,
        run.function,
        n_strange,
    )
    if len(rows) < n:
        caption += " (%d drawn)" % len(rows)
    parts.append(_text(60, height - 10, said(caption, 100)))
    return _svg(width, height, parts, "durations of executions")


# ---------------------------------------------------------------------------------- a table


def table_html(table: Table, most: int) -> str:
    """The first rows of a table."""
    n = min(len(table), most)
    rows = [table.row(i) for i in range(n)]
    head = "".join("<th>%s</th>" % said(name) for name in table.names)
    body = "".join(
        "<tr>%s</tr>"
        % "".join("<td>%s</td>" % said(_cell(value), 60) for value in row.values())
        for row in rows
    )
    return "<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table><div>%d rows%s</div>" % (
        head,
        body,
        len(table),
        ", the first %d" % n if n < len(table) else "",
    )


def _cell(value: Any) -> Optional[str]:
    return "" if value is None else "%.6g" % value if isinstance(value, float) else str(value)
