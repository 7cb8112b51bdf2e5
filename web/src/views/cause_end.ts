// Where a chain of causes ends with somebody of whom the trace does not tell enough to go on: who that
// is, and what is known of it.
import { CauseLink } from "../api/types";

export interface CauseEnd {
    who: string | null; /* null: the last link is the end */
    rank: number | null;
    says: string;
}

const notes: Record<string, { behind: string; sentence: string }> = {
    no_data: { behind: "no data", sentence: "The trace has no events of it." },
    unmatched: {
        behind: "message not in the trace",
        sentence: "The other end of this message is not in the trace.",
    },
    in_time: {
        behind: "in time",
        sentence: "It was there in time: the operation itself took long.",
    },
    unexplained: {
        behind: "late",
        sentence: "It came late, but nothing that it did explains the delay.",
    },
    cycle: { behind: "they wait for each other", sentence: "The ranks wait in a circle." },
};

const sentences: Record<string, string> = {
    not_waiting: "There the time was spent: it does not wait for anybody.",
    tracer: "There the tracer was at work, not the program.",
    unknown: "No record says whom it waits for.",
    too_long: "The chain goes on, but is not followed further.",
};

export function causeEnd(cause: CauseLink[], end: string | null | undefined): CauseEnd | null {
    const last = cause[cause.length - 1];
    if (!last || !end) return null;
    const note = notes[end];
    if (!note) return { who: null, rank: null, says: sentences[end] ?? end };
    const rank = last.peer ?? null;
    const who =
        rank !== null
            ? `rank ${rank}`
            : last.waits_for === "collective"
              ? "ranks of the collective"
              : "a rank that is not known";
    return { who: `${who} (${note.behind})`, rank, says: note.sentence };
}
