// Labels that a person gave here and of which the server has not yet said that it has them. They count at once, over
// whatever comes from the server meanwhile, and go when an answer comes that was asked for after the server had them.
import { signal } from "@preact/signals";

interface Given {
    foi: number; /* the function of the executions */
    code: number; /* 1 abnormal, -1 normal, 0 none */
    sent: number | null; /* as which label it reached the server; null: not yet */
}

export const given = signal<ReadonlyMap<number, Given>>(new Map());
export const sent = signal(0); /* labels that reached the server, all in all */

function change(edit: (labels: Map<number, Given>) => void): void {
    const labels = new Map(given.value);
    edit(labels);
    given.value = labels;
}

/* What is given, to be told whether it was stored. */
export function give(foi: number, trees: readonly number[], code: number): Given {
    const it: Given = { foi, code, sent: null };
    change((labels) => trees.forEach((tree) => labels.set(tree, it)));
    return it;
}

export function reached(it: Given): void {
    it.sent = ++sent.value;
}

/* The server has refused it: what it says holds. Of a tree that got another one since, that one stays. */
export function takeBack(it: Given): void {
    change((labels) => labels.forEach((label, tree) => label === it && labels.delete(tree)));
}

/* An answer has come that knows the first `n` that were sent. */
export function settleGiven(n: number): void {
    if (!given.value.size) return;
    change((labels) =>
        labels.forEach(
            (label, tree) => label.sent !== null && label.sent <= n && labels.delete(tree),
        ),
    );
}
