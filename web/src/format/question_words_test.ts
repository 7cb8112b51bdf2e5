import assert from "node:assert/strict";
import test from "node:test";
import { askedWords } from "./question_words";

test("a question says why it is asked, of what kind it is, and what the answer is worth", () => {
    assert.equal(
        askedWords({ asked_as: "strangest", kind: "time in a > b", moves: 12 }),
        'Asked because it is the strangest without a label of its kind, "time in a > b". An answer moves 12 other executions like it.',
    );
    assert.equal(
        askedWords({ asked_as: "uncertain", kind: "more calls", moves: 0 }),
        'Asked because what is known so far leaves it open whether "more calls" matters. An answer is about this one alone.',
    );
    assert.match(
        askedWords({ asked_as: "uncertain", kind: "more calls", moves: null }),
        /matters\.$/,
    );
});
