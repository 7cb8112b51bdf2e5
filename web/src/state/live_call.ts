// The call, or execution, that is looked at closely: a point, or a record. In a link it is a row of
// numbers, enough to find its record again.

export interface Looked {
    kind: number; /* 1: execution of a function of interest */
    isAnomaly: boolean;
    isJudged: boolean; /* false: nobody knows whether it is one */
    rank: number;
    program: number;
    thread: number;
    region: number | null; /* null: not known, but `func` is */
    index: number | null; /* of an execution */
    enter_ns: number;
    duration_ns: number;
    exclusive_ns: number;
    score: number | null;
    record: number | null; /* its id; null: not known yet */
    func: string | null; /* as it is shown; null: the name of the region */
}

const numbers = [
    "kind",
    "rank",
    "program",
    "thread",
    "region",
    "index",
    "enter_ns",
    "duration_ns",
    "exclusive_ns",
    "score",
    "record",
] as const;
const mayMiss = ["region", "index", "score", "record"];

export function printCall(of: Looked | null): string | null {
    if (!of) return null;
    const list = numbers.map((name) => {
        const x = of[name];
        return x === null ? "" : String(name === "score" ? Number(x.toPrecision(5)) : x);
    });
    const verdict = of.isAnomaly ? 1 : of.isJudged ? 0 : 2;
    return [verdict, ...list].join(",");
}

/* Null unless it is what printCall makes. */
export function readCall(text: string | null): Looked | null {
    const parts = (text ?? "").split(",");
    if (parts.length !== numbers.length + 1) return null;
    const of: Record<string, unknown> = {
        isAnomaly: parts[0] === "1",
        isJudged: parts[0] !== "2",
        func: null,
    };
    for (const [i, name] of numbers.entries()) {
        const part = parts[i + 1];
        const isMissing = part === "" && mayMiss.includes(name);
        const x = isMissing ? null : Number(part === "" ? NaN : part);
        if (x !== null && (!Number.isFinite(x) || (x < 0 && name !== "score"))) return null;
        of[name] = x;
    }
    return of as unknown as Looked;
}
