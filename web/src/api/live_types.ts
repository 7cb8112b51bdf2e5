// What the server sends of a program that is live, see docs/serve.md and openapi.json.

/* null: not known, as of a store that is only read */
export interface LiveStat {
    count: number | null;
    total: number | null;
    mean: number | null;
    deviation: number | null;
    minimum: number | null;
    maximum: number | null;
    last: number | null;
    delta: number | null;
}

export interface LiveHistory {
    begin_ns: number;
    bin_ns: number;
    values: number[]; /* none: not known */
}

export interface LiveStatus {
    version: number;
    run: number; /* of the program, from 1 */
    state: "waiting" | "running" | "over" | "failed";
    message: string | null;
    source: string;
    detector: string;
    is_inclusive: boolean; /* whole times are judged */
    steps: number | null; /* null, as all below: of a store that is only read, not known */
    begin_ns: number;
    end_ns: number;
    events: number | null;
    calls: number | null;
    anomalies: number;
    severity_ns: number | null /* null: a parameter server is not told of it */;
    taken_back: number;
    least_ns: number;
    unjudged: number | null;
    lost_events: number | null;
    events_per_s: number | null;
    lag_ns: number | null;
    ranks: number;
    regions: number;
    fois: number[];
    executions: {
        total: number | null;
        anomalies: number;
        unjudged: number | null;
        cut: number | null;
    } | null; /* null: no functions of interest */
    loop: "sought" | "followed" | "not_found" | null;
    points: { kind?: "calls" | "executions"; kept: number; most: number; next: number };
    store: {
        url: string;
        calls: number | null; /* of a job: that its statistics have */
        stored: number;
        waiting: number;
        dropped: number;
        removed: number;
        is_failing: boolean;
        error: string | null; /* why */
    } | null;
    server_calls: number | null; /* of a job: that its parameter server was told of */
    reduction: {
        trace_bytes: number | null;
        stored_bytes: number | null;
        stored_is: "files" | "sent" | null;
        reduction: number | null; /* times less stored than read */
        reduction_unknown: string | null; /* why */
    };
    quality: { kind: string; count: number; is_damage: boolean; text: string }[];
}

interface Ranked {
    calls: number | null;
    anomalies: LiveStat;
    severity_ns: LiveStat;
    exclusive_ns: LiveStat;
    history: LiveHistory;
}

export interface LiveRank extends Ranked {
    rank: number;
    program: number;
}

export interface LiveRegion extends Ranked {
    region: number;
    name: string;
    short_name: string;
    kind: string;
}

export interface LiveList<T> {
    version: number;
    total: number;
    by: string;
    items: T[];
}

/* How the ranks of a job compare. */
export interface LiveSlow {
    version: number;
    compared: number;
    not_known: string | null;
    usual: number;
    slow: number;
    waits: number;
    imbalanced: number;
    unsure: number;
    items: {
        rank: number;
        program: number;
        verdict: "slow" | "waits" | "imbalanced" | "unsure";
        slowdown: number;
        own_ns: number;
        wait_ns: number;
        functions: {
            region: number;
            short_name: string;
            kind: "slower" | "more to do";
            factor: number;
            excess_ns: number;
            is_sure: boolean;
        }[];
    }[];
}

export interface LiveCounter {
    counter: number;
    name: string;
    count: number;
    mean: number;
    deviation: number;
    minimum: number;
    maximum: number;
    last: number;
    last_rank: number;
}

export interface LiveModel {
    region: number;
    name: string;
    short_name: string;
    detector: string;
    is_inclusive: boolean; /* of whole times */
    calls: number;
    mean_ns: number;
    deviation_ns: number;
    minimum_ns: number;
    maximum_ns: number;
    median_ns: number;
    usual_ns: [number, number][];
    bins: [number, number, number][];
}

export interface RecordItem {
    id: number;
    collection: string;
    run: number; /* of the store: an event_id is unique in it */
    event_id: string;
    program: number;
    rank: number;
    thread: number;
    func: string;
    enter_ns: number;
    leave_ns: number;
    inclusive_ns: number;
    exclusive_ns: number;
    score: number | null;
    p: number | null;
    severity_ns: number;
    step: number;
    cost_ns: number | null;
    cost_is_bound: boolean | null;
    is_pruned: boolean;
    execution?: { id: string; index: number; calls: number; messages: number } | null;
}

export interface RecordPage {
    total: number;
    offset: number;
    items: RecordItem[];
}

export interface LaneCall {
    func: string;
    event_id: string;
    enter_ns: number;
    leave_ns: number | null;
    depth: number;
    is_anomaly: boolean;
    is_this: boolean;
}

export interface Lane {
    rank: number;
    thread: number;
    calls: LaneCall[];
    messages: {
        is_send: boolean;
        time_ns: number;
        source: number;
        target: number;
        tag: number;
        bytes: number;
    }[];
}

/* One call of those that were waited for, the cause last. */
export interface RecordCause {
    rank: number;
    thread: number;
    function: string;
    waits_for: string | null;
    begin_ns: number;
    end_ns: number;
    time_ns: number;
}

/* What of a record the page reads; there is more. Times in us. */
export interface RecordBody {
    event_id: string;
    hostname: string;
    func: string;
    runtime_total: number;
    runtime_exclusive: number;
    outlier_severity: number;
    cost_ns?: number | null;
    cost_is_bound?: boolean | null;
    p: number | null;
    is_pruned: boolean;
    call_stack: { func: string }[];
    counter_events: { counter_name: string; counter_value: number }[];
    cause: RecordCause[] | null;
    gpu_parent: { call_stack?: { func: string }[] } | null;
    node_state: { data: { field: string; value: number }[] } | null;
    execution?: {
        id: string;
        index: number;
        calls: number;
        messages: number;
        why: string | null;
        threshold: number | null;
        typical_ns: number | null;
    } | null;
}

export interface LiveRecord {
    id: number;
    collection: string;
    record: RecordBody;
    lanes: Lane[];
}

/* What the events `step` and `over` say. */
export interface LiveStep {
    version: number;
    steps: number | null;
    end_ns: number;
    calls: number | null;
    anomalies: number;
}
