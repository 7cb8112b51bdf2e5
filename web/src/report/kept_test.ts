import assert from "node:assert/strict";
import test from "node:test";
import { isFewAt } from "./kept";

test("a drawing is of few executions where its function has few, not where another one has", () => {
    const answers = { "/fois/1": { is_few: true }, "/fois/12": { is_few: false } };
    const element = { textContent: JSON.stringify(answers) };
    globalThis.document = { getElementById: () => element } as unknown as Document;
    try {
        assert.equal(isFewAt("/fois/1/executions/3"), true);
        assert.equal(isFewAt("/fois/1/ranks"), true);
        assert.equal(isFewAt("/fois/12/executions/3"), false);
        assert.equal(isFewAt("/fois/2/ranks"), false);
    } finally {
        Reflect.deleteProperty(globalThis, "document");
    }
});
