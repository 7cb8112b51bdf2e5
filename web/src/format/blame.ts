// Whether the time of an execution goes back to somebody: only where it lost time by an anomaly, or waited for a rank that
// is slow in every execution. Of all others it is said how they differ, and nobody is blamed.
import { Outcome, Shown } from "../api/types";
import { originOf } from "./origin";

export type Blame = "anomaly" | "slow" | null;

/* Of who is slow again and again; null: nobody, or it is no whole rank. */
export function slowRank(outcome: Pick<Outcome, "slow"> | null | undefined): number | null {
    const [, rank] = /^rank (\d+)$/.exec(outcome?.slow?.place ?? "") ?? [];
    return rank === undefined ? null : Number(rank);
}

type Judged = Pick<
    Shown,
    "verdict" | "lost_ns" | "open_ns" | "incident" | "cause" | "cause_end" | "rank"
>;

export function blameOf(of: Judged, outcome: Pick<Outcome, "slow"> | null | undefined): Blame {
    const isOfAnomaly = of.verdict === "anomaly" || of.incident?.verdict === "anomaly";
    if (isOfAnomaly && (of.lost_ns > 0 || of.open_ns !== null)) return "anomaly";
    const rank = originOf(of.cause, of.cause_end)?.rank ?? null;
    return rank !== null && rank !== of.rank && rank === slowRank(outcome) ? "slow" : null;
}

/* What is marked and listed of its chain: of what nobody is blamed for and that waited for nobody, nothing. */
export function shownCause(of: Judged, blame: Blame): NonNullable<Shown["cause"]> {
    const cause = of.cause ?? [];
    return blame !== null || cause.length > 1 ? cause : [];
}
