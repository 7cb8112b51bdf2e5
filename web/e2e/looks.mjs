// looks.mjs -- how a page is looked at: sizes, colour schemes, and what is wrong with what is seen: things
// over each other, and text that is cut.
export const sizes = [
    { name: "390", width: 390, height: 844 } /* a telephone */,
    { name: "800", width: 800, height: 600 },
    { name: "1280", width: 1280, height: 720 },
    { name: "1366", width: 1366, height: 768 },
    { name: "1920", width: 1920, height: 1080 },
    { name: "2560", width: 2560, height: 1440 },
    { name: "200%", width: 700, height: 450, ratio: 2 } /* 1400 x 900 */,
];
export const schemes = ["light", "dark"];
export const viewNames = [
    "overview",
    "why",
    "structure",
    "timeline",
    "map",
    "ranks",
    "regions",
    "quality",
    "messages",
    "query",
];

/* All views have what they asked for. The stream of events never ends: there is no idle network to wait for. */
export function settled(page) {
    return page.waitForFunction(
        () => document.querySelector(".panel") && !document.querySelector(".state.loading"),
    );
}

/* In the page: sentences that say what is over what, and whose text is cut. What scrolls may be cut where it scrolls,
   tables and legends at their end alone; an ellipsis is none where a tooltip has the whole. */
export function defects() {
    const found = [];
    const mostLettersOfPiece = 14; /* longer ones may be wider than any column */
    const isSeen = (e) =>
        e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const said = (e) =>
        `${e.tagName.toLowerCase()}.${e.className?.baseVal ?? e.className} "${(e.getAttribute("aria-label") ?? e.textContent).trim().slice(0, 40)}"`;

    /* The part that is not hidden by what it scrolls or is clipped in. */
    const seenPart = (e) => {
        let { left, top, right, bottom } = e.getBoundingClientRect();
        for (let up = e.parentElement; up; up = up.parentElement) {
            if (getComputedStyle(up).overflow === "visible") continue;
            const box = up.getBoundingClientRect();
            [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
            [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
        }
        return { left, top, right, bottom };
    };
    const pieces = [
        ...document.querySelectorAll(
            "button, select, input, summary, h1, h2, h3, .headline, .run-name, .detail .why, .legend, .sampling label",
        ),
    ]
        // Names of lanes and drawings lie on pictures; heads of tables stay above what scrolls.
        .filter(
            (e) => isSeen(e) && !e.closest(".rank-name, .hover, svg, thead, .visually-hidden"),
        )
        .map((e) => ({ e, ...seenPart(e) }))
        .filter(({ left, top, right, bottom }) => right - left > 2 && bottom - top > 2);
    pieces.forEach((a, i) =>
        pieces.slice(i + 1).forEach((b) => {
            if (a.e.contains(b.e) || b.e.contains(a.e)) return;
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 2 && high > 2) found.push(`${said(a.e)} and ${said(b.e)} overlap`);
        }),
    );

    for (const { e } of pieces.filter(({ e }) => e.tagName === "BUTTON")) {
        const { right } = e.getBoundingClientRect();
        for (const part of e.querySelectorAll("*:not(.visually-hidden)"))
            if (isSeen(part) && part.getBoundingClientRect().right > right + 1)
                found.push(`${said(part)} stands out of ${said(e)}`);
    }

    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth} wide`);
    const pen = document.createElement("canvas").getContext("2d");
    for (const { e } of pieces) {
        const style = getComputedStyle(e);
        const hides = style.overflowX === "hidden" || style.overflowX === "clip";
        if (hides && e.scrollWidth > e.clientWidth + 1 && !e.title)
            found.push(`${said(e)} is cut`);
        if (e.tagName !== "SELECT") continue;
        pen.font = style.font;
        const room =
            e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        const arrow = 16; /* of the browser */
        const text = e.selectedOptions[0]?.textContent ?? "";
        if (pen.measureText(text).width > room - arrow + 1)
            found.push(`the choice "${text}" is cut`);
    }
    // What ends in a line of its own looks lost: a single button has room beside others.
    for (const tools of document.querySelectorAll(".tools")) {
        const seen = [...tools.children].filter(isSeen).map((e) => ({
            e,
            middle: (({ top, bottom }) => (top + bottom) / 2)(e.getBoundingClientRect()),
        }));
        const last = seen.at(-1);
        const isAlone = (one) =>
            seen.every((other) => other === one || one.middle - other.middle > 6);
        if (seen.length > 1 && last.e.tagName === "BUTTON" && isAlone(last))
            found.push(`${said(last.e)} has a line of its own`);
    }
    for (const cell of document.querySelectorAll("td, th"))
        if (isSeen(cell) && cell.scrollWidth > cell.clientWidth + 1)
            found.push(`${said(cell)} is wider than its column`);
    // A piece of a name, which stands in a text of its own, is in one line, if that is wide enough for it.
    const pieceOfName = document.createRange();
    for (const name of document.querySelectorAll("bdi"))
        for (const piece of name.childNodes) {
            if (piece.nodeType !== Node.TEXT_NODE || !isSeen(name) || /\s/.test(piece.data))
                continue;
            pieceOfName.selectNodeContents(piece);
            const lines = new Set([...pieceOfName.getClientRects()].map(({ top }) => top));
            if (lines.size > 1 && [...piece.data].length <= mostLettersOfPiece)
                found.push(`${said(name)} is broken within "${piece.data}"`);
        }
    // Tables and legends go down, not across.
    for (const e of document.querySelectorAll(".table, .live-rows, .legend"))
        if (isSeen(e) && e.scrollWidth > e.clientWidth + 1)
            found.push(`${said(e)} is ${e.scrollWidth} wide where ${e.clientWidth} are seen`);
    for (const cell of document.querySelectorAll(
        ".headline, .run-name, .detail .why, .facts span",
    )) {
        const box = cell.getBoundingClientRect();
        if (isSeen(cell) && (box.left < -1 || box.right > innerWidth + 1))
            found.push(`${said(cell)} stands out of the page`);
    }
    return found;
}
