// #RANK-INDEX, or #RANK.THREAD-INDEX off the master thread.
export function executionId(rank: number, thread: number, index: number): string {
    return thread ? `#${rank}.${thread}-${index}` : `#${rank}-${index}`;
}

/* The function, and the number of an execution, as #RANK-INDEX has them; null: it is none. */
export function readExecutionId(
    text: string,
): { foi: string; rank: number; thread: number; index: number } | null {
    const found = /^(.*)#(\d+)(?:\.(\d+))?-(\d+)$/s.exec(text);
    if (!found) return null;
    const [, name, rank, thread, index] = found;
    return {
        foi: name,
        rank: Number(rank),
        thread: Number(thread ?? 0),
        index: Number(index),
    };
}

export function locationName(rank: number, thread: number): string {
    return thread ? `rank ${rank}.${thread}` : `rank ${rank}`;
}

/* Where the function is known anyway: "PairEAM::compute#1-387" is "#1-387". */
export function shortId(id: string): string {
    return id.replace(/^.*#/, "#");
}
