// Going along the records of the live page: while they are on their way it waits, and only then.
import { settle } from "../fake/browser";
import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordItem } from "../api/live_types";
import { underWay } from "./acts";
import { looked } from "./live";
import { listed, listedIn, liveKeys, stepRecord } from "./live_keys";

const items = [{ id: 7, func: "f" }] as RecordItem[];
const answer = { value: null, error: null, isLoading: false, retry: () => undefined };

function press(key: string): void {
    const event = { key, ctrlKey: false, metaKey: false } as KeyboardEvent;
    liveKeys.heard(event)![1][1]!(event);
}

test("only what was asked for is on its way", () => {
    const page = { total: 1, offset: 0, items };
    assert.equal(listedIn({ ...answer, isLoading: true }), null);
    assert.deepEqual(listedIn({ ...answer, value: page, isLoading: true }), items);
    assert.deepEqual(listedIn(answer), [], "no store, or none yet");
    assert.deepEqual(listedIn({ ...answer, error: "no" }), []);
});

test("the next record is waited for while it comes, until Escape", async () => {
    listed.value = [];
    stepRecord(1);
    assert.equal(underWay.value, 0);

    listed.value = null;
    press("j");
    assert.equal(underWay.value, 1);
    press("Escape");
    assert.equal(underWay.value, 0);
    listed.value = items;
    await settle();
    assert.equal(looked.peek(), null);

    listed.value = null;
    press("j");
    listed.value = items;
    await settle();
    assert.equal(looked.peek()?.record, 7);
    assert.equal(underWay.value, 0);
});
