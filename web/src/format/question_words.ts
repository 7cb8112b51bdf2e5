// Why an execution is among those to label next: what it is asked as, its kind, what an answer is worth.
import { Candidate } from "../api/types";
import { plural } from "./units";

type Question = NonNullable<Candidate["question"]>;

function worth(moves: number | null): string {
    if (moves === null) return "";
    if (moves === 0) return ". An answer is about this one alone";
    return `. An answer moves ${plural(moves, "other execution")} like it`;
}

export function askedWords({ asked_as, kind, moves }: Question): string {
    const why =
        asked_as === "uncertain"
            ? `what is known so far leaves it open whether "${kind}" matters`
            : `it is the strangest without a label of its kind, "${kind}"`;
    return `Asked because ${why}${worth(moves)}.`;
}
