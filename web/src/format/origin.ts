// Where a chain of causes ends: who it goes back to, which is what people want to know first, and what
// is known of that.
import { CauseLink } from "../api/types";

export interface Origin {
    rank: number | null /* null: it is not known, or there is nobody who is first */;
    thread: number;
    link: CauseLink | null /* the call that it goes back to; null: the trace does not have it */;
    who: string;
    says: string;
}

type Words = (last: CauseLink, peer: string) => { who?: string; says: string };

function place(rank: number, thread: number): string {
    return thread ? `rank ${rank}, thread ${thread}` : `rank ${rank}`;
}

function peerOf({ peer, waits_for }: CauseLink): string {
    if (peer !== null && peer !== undefined) return `rank ${peer}`;
    return waits_for === "collective" ? "ranks of the collective" : "a rank that is not known";
}

export function upper(text: string): string {
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/* It ended without its receiver, as that came only then, or was done before. */
function isOver({ waits_for, late, delay_ns }: CauseLink): boolean {
    return waits_for === "receiver" && !late && delay_ns === 0;
}

/* With `who`, the chain goes on to somebody whose call is not in it. */
const ends: Record<string, Words> = {
    no_data: (_, peer) => ({ who: peer, says: `The trace has no events of ${peer}.` }),
    unmatched: (_, peer) => ({
        who: peer,
        says: `The message that ${peer} would have to do with it by is not in the trace.`,
    }),
    unexplained: (_, peer) => ({
        who: peer,
        says: `${upper(peer)} came late, but nothing that it did explains the delay.`,
    }),
    in_time: (last, peer) => ({
        says: `${isOver(last) ? `It did not wait for ${peer}` : last.late ? `${upper(peer)} was not late enough` : `${upper(peer)} was there in time`}: ${last.function} on ${place(last.rank, last.thread)} itself took long.`,
    }),
    cycle: (last, peer) => ({
        who: `${place(last.rank, last.thread)} and ${peer} wait for each other`,
        says: "They waited for each other, as in an exchange: which of them was first the trace does not say.",
    }),
    stopped: (last, peer) => ({
        says: `${upper(place(last.rank, last.thread))} was in ${last.function} before ${peer} came, who could not go on without it: it was stopped there, or what it sends was held up.`,
    }),
    not_waiting: (last) => ({
        says: `There the time was spent: ${last.function} waits for nothing that the trace shows.`,
    }),
    tracer: () => ({ says: "There the tracer was at work, not the program." }),
    unknown: (last) => ({
        says: `No record says whom ${place(last.rank, last.thread)} waits for.`,
    }),
    too_long: () => ({ says: "The chain goes on, but is not followed further." }),
};

/* The chain as people read it: what it goes back to is the first, the call of the execution itself the last. */
export function numberedCauses(
    cause: CauseLink[] | null | undefined,
): { link: CauseLink; number: number }[] {
    return [...(cause ?? [])].reverse().map((link, k) => ({ link, number: k + 1 }));
}

/* Null where nothing is known of a cause. */
export function originOf(
    cause: CauseLink[] | null | undefined,
    end: string | null | undefined,
): Origin | null {
    const last = cause?.[cause.length - 1];
    if (!last || !end) return null;
    const { who, says } = ends[end]?.(last, peerOf(last)) ?? { says: end };
    if (who !== undefined) {
        const rank = end === "cycle" ? null : (last.peer ?? null);
        return { rank, thread: 0, link: null, who, says };
    }
    const { rank, thread } = last;
    return { rank, thread, link: last, who: place(rank, thread), says };
}
