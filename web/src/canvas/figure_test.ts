import assert from "node:assert/strict";
import test from "node:test";
import { drawBars, drawKeys, drawTable, drawTimeAxis, frameFigure, wrapText } from "./figure";
import { SvgPen } from "./svg_pen";

const pen = () => new SvgPen((text) => text.length * 6);
const paint = { ink: "#000", dim: "#777", line: "#ccc", bar: "#d50" };
const textsOf = (c: SvgPen) =>
    [...String(c).matchAll(/>([^<>]+)<\/text>/g)].map(([, text]) => text);

test("text is broken between words, and a word is never cut", () => {
    assert.deepEqual(wrapText(pen(), "one two three", 8 * 6), ["one two", "three"]);
    assert.deepEqual(wrapText(pen(), "a verylongword b", 3 * 6), ["a", "verylongword", "b"]);
});

test("a figure has its title, its run and its legend around it, in that order", () => {
    const c = pen();
    const content = '<rect width="500" height="100"/>';
    const size = frameFigure(
        c,
        {
            width: 500,
            height: 100,
            content,
            keys: [{ colour: "red", text: "MPI" }],
            notes: ["a < b"],
        },
        "Timeline",
        "a.snag & more",
        paint,
    );
    assert.deepEqual(textsOf(c), ["Timeline", "a.snag &#38; more", "MPI", "a &#60; b"]);
    assert.ok(String(c).indexOf("a.snag") < String(c).indexOf(content));
    assert.ok(String(c).indexOf("MPI") > String(c).indexOf(content));
    assert.equal(size.width, 500);
    const [, below] = /y="([\d.]+)"[^>]*>a &#60; b/.exec(String(c))!;
    assert.ok(Number(below) <= size.height, "nothing is drawn below the figure");
});

test("keys that do not fit beside each other go on in the next line", () => {
    const c = pen();
    const keys = ["one", "two", "three"].map((text) => ({ colour: "red", text }));
    assert.equal(drawKeys(c, keys, 0, 90, paint), 2 * 16);
    assert.equal(drawKeys(c, [], 7, 90, paint), 7);
});

test("an axis of time has its unit at every tick, and says what it is", () => {
    const c = pen();
    drawTimeAxis(
        c,
        { begin: 0, end: 4e6, left: 0, right: 440, y: 0, title: "time lost" },
        paint,
    );
    assert.deepEqual(textsOf(c), ["0", "1 ms", "2 ms", "3 ms", "4 ms", "time lost →"]);
});

test("numbers of an axis never overlap, and all of it is inside", () => {
    const c = pen();
    drawTimeAxis(
        c,
        { begin: 0, end: 1e6, left: 5, right: 70, y: 0, title: "time lost" },
        paint,
    );
    const at = [...String(c).matchAll(/<text x="([\d.]+)"[^>]*>([^<]+)/g)].map(
        ([, x, text]) => ({
            from: Number(x),
            to: Number(x) + 6 * text.length,
        }),
    );
    const [first, second, title] = at;
    assert.equal(at.length, 3, "500 us has no room");
    assert.ok(first.to < second.from && second.to <= 70);
    assert.ok(title.from >= 5);
});

test("bars are as long as their times", () => {
    const c = pen();
    const bars = [
        { name: "solve", ns: 4e6, says: "4.00 ms" },
        { name: "io", ns: 1e6, says: "1.00 ms" },
    ];
    drawBars(c, bars, "time lost", 530, paint);
    const widths = [...String(c).matchAll(/width="([\d.]+)" height="12"/g)].map(([, w]) => w);
    assert.deepEqual(widths, ["400", "100"]);
});

test("a table has words to the left and numbers to the right of their columns", () => {
    const c = pen();
    const { width, height } = drawTable(
        c,
        { columns: [{ title: "f", isWords: true }, { title: "calls" }], rows: [["main", "1"]] },
        paint,
    );
    assert.equal(width, 4 * 6 + 16 + 5 * 6);
    assert.equal(height, 2 * 18);
    assert.match(String(c), /x="0"[^>]*text-anchor="start"[^>]*>main</);
    assert.match(String(c), /x="70"[^>]*text-anchor="end"[^>]*>1</);
});
