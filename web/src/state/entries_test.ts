import assert from "node:assert/strict";
import test from "node:test";
import { Incident, IncidentGroup } from "../api/types";
import {
    entryOf,
    entryOfCause,
    entryOfIncident,
    inTime,
    tableOfEntries,
    treeBeside,
} from "./entries";

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

const cause = (first: Incident, member_trees: number[], n: number) =>
    ({
        group: 2,
        verdict: "anomaly",
        first,
        member_trees,
        incidents: Array.from({ length: n }, (_, i) => i + 1),
        begins_ns: Array.from({ length: n }, (_, i) => 10 * i + 5),
        times: n,
        lost_ns: 177,
        cost_ns: 59,
        cost_unknown: 0,
        text: "solve takes longer",
    }) as IncidentGroup;

test("incidents of one cause are one entry, which the head of the first stands for; one alone is itself", () => {
    const several = entryOfCause(cause(incident(7, [2, 7]), [1, 2, 7, 9], 2));
    assert.deepEqual(several.trees, [7, 1, 2, 9]);
    assert.equal(several.incident, undefined);
    const alone = entryOfCause(cause(incident(3, [3, 4]), [3, 4], 1));
    assert.equal(alone.incident?.head_tree, 3);
});

test("the table of incidents by cause has a row for each cause, also of those that are one incident", () => {
    const entries = [
        entryOfCause(cause(incident(7, [2, 7]), [1, 2, 7, 9], 2)),
        entryOfCause(cause(incident(3, [3]), [3], 1)),
    ];
    const { head, rows } = tableOfEntries(entries);
    assert.equal(rows.length, 2);
    const at = (name: string) => rows[0][head.indexOf(name)];
    assert.deepEqual(
        ["incidents", "executions", "first_ns", "last_ns", "cost_ns"].map(at),
        [2, 4, 5, 15, 59],
    );
});
