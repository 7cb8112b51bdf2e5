// Which executions are drawn, and in which order: anomalies, labelled and chosen ones always, the
// others by a share that depends on their number only, so that moving the slider adds or removes
// points but never exchanges them.

export interface Sampled {
    order: Uint32Array; /* trees to draw: the normal ones first, so that anomalies lie on top */
    firstKept: number; /* where in `order` those begin that always stay */
    hidden: number;
}

/* 0 <= x < 1, the same for the same number (Knuth's multiplicative hash). */
function spread(tree: number): number {
    return (Math.imul(tree + 1, 2654435761) >>> 0) / 2 ** 32;
}

export function sample(
    verdict: ArrayLike<number>,
    label: ArrayLike<number>,
    percent: number,
    chosen: ReadonlySet<number>,
): Sampled {
    const n = verdict.length;
    const order = new Uint32Array(n);
    const share = percent / 100;
    let used = 0;
    const stays = (tree: number) =>
        verdict[tree] !== 0 || label[tree] !== 0 || chosen.has(tree);
    for (let tree = 0; tree < n; tree++)
        if (!stays(tree) && spread(tree) < share) order[used++] = tree;
    const firstKept = used;
    for (let tree = 0; tree < n; tree++) if (stays(tree)) order[used++] = tree;
    return { order: order.subarray(0, used), firstKept, hidden: n - used };
}
