// What incidents and probabilities are in words.
import { Incident } from "../api/types";
import { shortId } from "./ids";
import { formatCount, formatTime, plural } from "./units";

/* Those that only labels made one have no number. */
export function incidentName({ id }: Incident): string {
    return id === null ? "incident" : `incident ${id}`;
}

/* "9 executions on 4 ranks" */
export function incidentSize({ members, ranks }: Incident): string {
    return `${plural(members.length, "execution")} on ${plural(ranks.length, "rank")}`;
}

/* As snag show says it. */
export function incidentSentence(of: Incident): string {
    return (
        `${incidentName(of)}: head ${shortId(of.head)}, ${incidentSize(of)}, ` +
        `${formatTime(of.lost_ns)} lost`
    );
}

/* Two digits that matter. */
function roughly(x: number): string {
    return formatCount(Number(x.toPrecision(2)));
}

/*
 * How many runs of n executions have one so strange although nothing is wrong, when each is so
 * with this probability. Beyond the tail it is no count: then that it happens is all there is to say.
 */
export function chanceWords(probability: number, n: number): string {
    const expected = probability * n;
    if (expected >= 0.5) return "some executions are so strange by chance";
    const share = -Math.expm1(-expected); /* of the runs: they have one or more */
    if (share < 1e-4) return "fewer than 1 in 10,000 runs would show this by chance";
    return `about 1 in ${roughly(1 / share)} runs would show this by chance`;
}
