// #RANK-INDEX, or #RANK.THREAD-INDEX off the master thread.
export function executionId(rank: number, thread: number, index: number): string {
    return thread ? `#${rank}.${thread}-${index}` : `#${rank}-${index}`;
}

export function locationName(rank: number, thread: number): string {
    return thread ? `rank ${rank}.${thread}` : `rank ${rank}`;
}

/* Where the function is known anyway: "PairEAM::compute#1-387" is "#1-387". */
export function shortId(id: string): string {
    return id.replace(/^.*#/, "#");
}
