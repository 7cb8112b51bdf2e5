// How the others did: the executions of the same rank and thread, and those with the same number elsewhere.
// All of it is in the columns that the overview has anyway.
import { Details, Executions } from "./store";

export interface Beside {
    own: number[]; /* trees: others on the same rank and thread */
    then: number[]; /* of the same number, elsewhere */
    where: ReturnType<typeof elsewhere>;
}

/* The execution that a call of a place is in; null: in none. */
export function executionAt(
    { rank, thread }: Details,
    { enter_ns, duration_ns }: Pick<Executions, "enter_ns" | "duration_ns">,
    at: { rank: number; thread: number },
    call: { enter_ns: number; leave_ns: number },
): number | null {
    for (let i = 0; i < rank.length; i++)
        if (
            rank[i] === at.rank &&
            thread[i] === at.thread &&
            enter_ns[i] <= call.enter_ns &&
            call.leave_ns <= enter_ns[i] + duration_ns[i]
        )
            return i;
    return null;
}

export function besideOf(of: Details, tree: number): Beside {
    const { rank, thread, index } = of;
    const [own, then]: number[][] = [[], []];
    for (let i = 0; i < rank.length; i++) {
        if (i === tree) continue;
        const isHere = rank[i] === rank[tree] && thread[i] === thread[tree];
        if (isHere) own.push(i);
        else if (index[i] === index[tree]) then.push(i);
    }
    const placeOf = (i: number) => ({ rank: rank[i], thread: thread[i] });
    return { own, then, where: elsewhere(placeOf(tree), then.map(placeOf)) };
}

/* What others are said to be on: other ranks; other threads, where some are of the same rank as it or as each other. */
export function elsewhere(
    it: { rank: number },
    others: readonly { rank: number; thread: number }[],
): "other rank" | "other thread" {
    const threads = new Set(others.map(({ rank, thread }) => `${rank}.${thread}`));
    const ranks = new Set([it.rank, ...others.map(({ rank }) => rank)]);
    return ranks.size > threads.size ? "other rank" : "other thread";
}

/* On each other rank the execution in the middle of those that there are on this one, the nearest ranks first. */
export function middleBeside({ rank, index }: Details, of: number): number[] {
    let last = -1;
    for (let i = 0; i < rank.length; i++) if (rank[i] === of) last = Math.max(last, index[i]);
    const middle = Math.floor(last / 2);
    const found = new Map<number, number>(); /* of each rank: its first thread with one */
    for (let i = 0; last >= 0 && i < rank.length; i++)
        if (rank[i] !== of && index[i] === middle && !found.has(rank[i])) found.set(rank[i], i);
    return [...found]
        .sort(([p], [q]) => Math.abs(p - of) - Math.abs(q - of) || p - q)
        .map(([, tree]) => tree);
}
