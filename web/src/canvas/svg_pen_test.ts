import assert from "node:assert/strict";
import test from "node:test";
import { SvgPen } from "./svg_pen";

const pen = () => new SvgPen((text) => text.length * 6);

test("what is drawn is written as shapes, in order, with the style of that moment", () => {
    const c = pen();
    c.fillStyle = "red";
    c.fillRect(1, 2, 3.14159, 4);
    c.globalAlpha = 0.5;
    c.strokeStyle = "blue";
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(0, 0);
    c.lineTo(5, 5);
    c.stroke();
    assert.equal(
        c.toString(),
        '<rect x="1" y="2" width="3.14" height="4" fill="red"/>\n' +
            '<path d="M0 0L5 5" fill="none" stroke="blue" stroke-width="2" stroke-opacity="0.5"/>',
    );
});

test("a name from somebody else's trace stays text", () => {
    const c = pen();
    c.fillText('operator<<"&"', 0, 0);
    assert.match(c.toString(), />operator&#60;&#60;&#34;&#38;&#34;<\/text>$/);
});

test("pictures of one document have ids of their own", () => {
    const idOf = (name: string) => {
        const c = new SvgPen((text) => text.length * 6, name);
        c.save();
        c.beginPath();
        c.rect(0, 0, 10, 10);
        c.clip();
        c.restore();
        const [, id, used] = /id="(.*?)".*url\(#(.*?)\)/.exec(c.toString())!;
        assert.equal(id, used);
        return id;
    };
    assert.notEqual(idOf("t1"), idOf("t2"));
});

test("clipping lasts until the state is restored", () => {
    const c = pen();
    c.save();
    c.beginPath();
    c.rect(0, 0, 10, 10);
    c.clip();
    c.fillRect(0, 0, 20, 20);
    c.restore();
    c.fillRect(1, 1, 1, 1);
    assert.match(
        c.toString(),
        /^<clipPath id="clip0"><path d="M0 0h10v10h-10z"\/><\/clipPath><g clip-path="url\(#clip0\)">\n<rect[^>]*>\n<\/g>\n<rect/,
    );
});

test("text that is too wide is squeezed, as on a canvas", () => {
    const c = pen();
    c.fillText("abc", 0, 0, 100);
    c.fillText("abcdef", 0, 0, 30);
    const [fits, squeezed] = c.toString().split("\n");
    assert.doesNotMatch(fits, /textLength/);
    assert.match(squeezed, /textLength="30"/);
});
