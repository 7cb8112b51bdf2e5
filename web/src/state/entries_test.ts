import assert from "node:assert/strict";
import test from "node:test";
import { Incident } from "../api/types";
import { entryOf, entryOfIncident, inTime, treeBeside } from "./entries";

const incident = (head_tree: number, member_trees: number[]) =>
    ({ head_tree, member_trees }) as Incident;
const entries = [
    entryOfIncident(incident(7, [2, 5, 7])),
    entryOfIncident(incident(1, [1])),
    entryOfIncident(incident(3, [3, 4])),
];

test("choosing an incident selects its head; the others follow in the order of time", () => {
    const { trees } = entryOfIncident(incident(7, [2, 5, 7]));
    assert.deepEqual(trees, [7, 2, 5]);
    assert.deepEqual(inTime(trees, [0, 0, 30, 0, 0, 20, 0, 40]), [7, 5, 2]);
});

test("an execution is found in the incident that it is part of", () => {
    assert.equal(entryOf(entries, 5), 0);
    assert.equal(entryOf(entries, 4), 2);
    assert.equal(entryOf(entries, 6), -1);
    assert.equal(entryOf(entries, null), -1);
});

test("next goes from any execution of an incident to the head of the next one", () => {
    assert.equal(treeBeside(entries, 5, 1), 1);
    assert.equal(treeBeside(entries, 1, 1), 3);
    assert.equal(treeBeside(entries, 4, -1), 1);
});

test("before the first and behind the last there is nothing; from elsewhere it is the first", () => {
    assert.equal(treeBeside(entries, 2, -1), null);
    assert.equal(treeBeside(entries, 3, 1), null);
    assert.equal(treeBeside(entries, 6, 1), 7);
    assert.equal(treeBeside([], null, 1), null);
});
