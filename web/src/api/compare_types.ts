// What the server sends of runs that are compared, and of histories: see docs/formats.md. Pairs are
// what was before and what is after.

export type Pair = [number, number];
export type WholeVerdict = "slower" | "faster" | "same" | "unsure";
export type PathVerdict = WholeVerdict | "new" | "gone" | "moved";

export interface ChangedPath {
    path: string;
    verdict: PathVerdict;
    from: string | null;
    change_ns: number;
    share: number | null;
    time_ns: Pair;
    calls: Pair;
    executions: Pair;
    is_waiting: boolean;
    kind: string | null;
}

export interface ChangedKind {
    kind: string;
    verdict: WholeVerdict | "new" | "gone";
    change: number | null;
    interval: Pair | null;
    time_ns: [number | null, number | null] /* null: that side has none of it */;
    executions: Pair;
    path: string | null;
    path_ns: number;
}

export interface Comparison {
    foi: string;
    headline: string;
    notes: string[];
    verdict: WholeVerdict;
    change: number | null;
    interval: Pair | null;
    least: number;
    runs: Pair;
    executions: Pair;
    total_ns: Pair;
    duration_ns: { mean: Pair; median: Pair; p95: Pair; p99: Pair };
    unmatched: number;
    paths: ChangedPath[];
    kinds: ChangedKind[];
}

/* A call path; its caller's comes before it. */
export interface ComparedNode {
    name: string;
    path: string;
    parent: number | null;
    verdict: PathVerdict;
    time_ns: Pair /* exclusive */;
    calls: Pair;
    executions: Pair;
    is_waiting: boolean;
    from: string | null;
}

export interface ComparisonTree {
    foi: string;
    nodes: ComparedNode[];
    kinds: { kind: string; executions: Pair; time_ns: [number[], number[]] }[];
}

export interface ComparedRun {
    side: "before" | "after";
    run: string;
    number: number | null;
    foi: number | null;
    page: string | null;
}

export interface ComparedRuns {
    runs: ComparedRun[];
    renames: [string, string][];
}

export interface HistoryRun {
    number: number;
    added_s: number;
    run: string;
    foi: string;
    ranks: number;
    executions: number;
    anomalies: number;
    time_ns: number;
    median_ns: number;
    p99_ns: number;
    tags: Record<string, string>;
}

export interface TrendChange {
    number: number;
    index: number;
    before_ns: number;
    after_ns: number;
    chance: number;
}

export interface TrendSeries {
    path: string;
    ns: number[];
    changes: TrendChange[];
}

export interface Trend {
    foi: string;
    runs: HistoryRun[];
    series: TrendSeries[] /* the whole first */;
    seems_changed: TrendChange | null;
    notes: string[];
}
