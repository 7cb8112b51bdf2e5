// What the server sends, see docs/formats.md. Times are nanoseconds since the start of the trace.

export type Label = "abnormal" | "normal";
export type Verdict = "anomaly" | "normal";

export interface Projection {
    method: string;
    features: string;
    iterations: number;
    cost: number | null;
}

export interface Act {
    kind: "labels" | "retrain";
    labels: number;
}

/* What was undone, or done again. */
export interface Turned extends Act {
    retrain: Retrained | null;
}

/* What a run comes to, of one function of interest. */
export interface Outcome {
    length_ns: number;
    is_few: boolean;
    cost_ns: number | null /* of all anomalies together; null: there are none, or not known, */;
    cost_is_bound: boolean /* it is at most that */;
    unknown: string | null /* because of this */;
    carrying: number | null /* so many of them carry nine tenths of it */;
    most: {
        rank: number | null /* where more than half of it is */;
        ranks: number;
        incidents: number;
        ns: number;
        what: string | null;
        function: string | null;
        place: string | null;
        text: string;
    } | null;
    slow: {
        place: string;
        verdict: string;
        why: string;
        cost_ns: number | null;
        cost_least_ns?: number | null /* it lies between these */;
        cost_most_ns?: number | null;
        more: number;
        is_first: boolean /* its cost is known, and not less than that of the anomalies */;
        says: string /* "rank 0 is slow beside the others" */;
        text: string;
    } | null;
    text: string | null /* what the anomalies cost; null: there is none */;
    growth:
        | string
        | null /* "executions of step take longer and longer on rank 3: ..."; null: they do not */;
}

/* What all executions of a function of interest lost; null: there are too few to know. */
export interface Lost {
    lost_ns: number | null;
    duration_ns: number;
    unended: number /* executions of which it is not known */;
    text: string;
}

export interface Foi {
    id: number;
    name: string;
    trees: number;
    vertices: number;
    messages: number;
    features: string;
    detector: string;
    threshold: number | null;
    anomalies: number;
    labels: { abnormal: number; normal: number; to_learn: number };
    undo: Act | null /* what is undone next, */;
    redo: Act | null /* or done again */;
    retrain: { id: number; learner: string; at: string; anomalies: number } | null;
    projections: Projection[];
    outcome: Outcome;
}

export interface Location {
    id: number;
    rank: number;
    thread: number;
    name: string;
    node: string /* where it ran, "" when that is not known */;
    calls: number | null /* null: not known, as in a run that is stored */;
    first_ns: number | null;
    last_ns: number | null;
    is_gpu: boolean; /* a stream of a GPU */
}

export interface Quality {
    kind: string;
    location: number | null;
    count: number;
    is_damage: boolean;
    text: string;
}

export interface Clocks {
    checked?: number;
    wrong?: number;
    worst_ns?: number;
    corrected_ranks?: number;
}

export interface Run {
    snag: string;
    name: string;
    path?: string; /* as it was given to the server; of a run alone */
    trace: string;
    source: string;
    created: string;
    begin_ns: number;
    end_ns: number;
    n_calls: number;
    n_messages: number;
    is_live: boolean;
    shows: "run" | "program" | "comparison" | "history";
    fois: Foi[];
    locations: Location[];
    quality: Quality[];
    clocks?: Clocks | null;
}

export interface Region {
    id: number;
    name: string;
    short_name: string;
    kind: string;
    calls: number;
    inclusive_ns: number;
    exclusive_ns: number;
    outermost: number;
    min_ns: number | null;
    max_ns: number | null;
    variation: number;
    locations: number;
    file: string | null;
    line: number | null;
}

/* depth, share of the execution's time (0..1), region, share of the excess (0..1) */
export type SketchBar = [number, number, number, number];

export interface Execution {
    id: string;
    tree: number;
    foi: string;
    rank: number;
    thread: number;
    index: number;
    location: number;
    call: number;
    enter_ns: number;
    duration_ns: number;
    off_ns: number /* by which that may be off */;
    usual_ns: number;
    lost_ns: number;
    open_ns:
        | number
        | null; /* it did not end; events of its rank end so long before those of the run */
    cost_ns: number | null /* by how much the run would be shorter without that, */;
    cost_is_bound: boolean /* or at most so much; null: not known */;
    tracer_ns: number;
    vertices: number;
    messages: number;
    score: number;
    false_alarm_probability: number | null;
    verdict: Verdict;
    label: Label | null;
    why: string;
}

export interface Candidate extends Execution {
    part: string;
    cause: string | null;
    rank_now: number;
    rank_before: number;
    verdict_before: Verdict;
    sketch: SketchBar[];
    /* Of the order "next": why it is asked, and what the answer is worth. */
    question?: { asked_as: "strangest" | "uncertain"; kind: string; moves: number | null };
}

export interface CandidatePage {
    total: number;
    items: Candidate[];
}

/* Executions that were strange together. */
export interface Incident {
    id: number | null /* null: only labels made it one */;
    foi: string;
    score: number;
    verdict: Verdict;
    begin_ns: number;
    end_ns: number;
    lost_ns: number;
    cost_ns: number | null;
    cost_least_ns: number | null /* without what its cause alone lost, and at most, */;
    cost_most_ns: number | null /* as cost_ns where that is known */;
    head: string;
    head_tree: number;
    rank: number /* where the cause is */;
    caused_by: number | null /* that, where it is another than its head's and to blame */;
    members: string[];
    member_trees: number[];
    ranks: number[];
    turns: number /* how often it came */;
    period: number /* executions from one time to the next; 0: once */;
    alike: number /* ranks on which it is the same, each by itself; 1: it goes back to one */;
    cause: string /* that in short: */;
    why: string;
    group: number | null /* of executions that are strange as its head is, */;
    what: string | null /* and in which way: "step > solve takes longer" */;
}

/* Incidents whose heads are strange in the same way, or one that is like no other. */
export interface IncidentGroup {
    group: number | null;
    foi: string;
    verdict: Verdict;
    what: string;
    where: string;
    text: string;
    times: number;
    lost_ns: number;
    cost_ns: number | null /* of all but so many, each removed alone: */;
    cost_least_ns: number | null;
    cost_unknown: number;
    incidents: (number | null)[];
    begins_ns: number[];
    member_trees: number[];
    ranks: number[];
    first: Incident;
}

export interface CausePage {
    total: number;
    items: IncidentGroup[];
}

/* Anomalies that are strange in the same way. */
export interface Group {
    id: number;
    foi: string;
    what: string;
    text: string;
    abnormal: number; /* labels of its members */
    normal: number;
    begin_ns: number;
    lost_ns: number;
    members: string[];
    member_trees: number[];
    ranks: number[];
    incidents: number[];
}

export interface GroupPage {
    total: number;
    items: Group[];
}

export interface IncidentPage {
    total: number;
    items: Incident[];
}

export interface PathShare {
    path: string[];
    calls: number;
    usual_calls: number;
    exclusive_ns: number;
    usual_ns: number;
    excess_ns: number;
}

export interface CallDifference {
    function: string;
    calls: number;
    usual_least: number;
    usual_most: number;
}

export interface Structure {
    function: string;
    differences: CallDifference[];
    order: { early: string; late: string; calls: number; of: number } | null;
}

export interface CauseLink {
    rank: number;
    thread: number;
    call: number;
    function: string;
    path: string[];
    begin_ns: number;
    end_ns: number;
    time_ns: number;
    calls: number;
    waits_for: string | null;
    peer: number | null;
    late: boolean;
    delay_ns: number | null;
    guessed: boolean;
    bytes?: number;
    tag?: number;
}

export interface Shown extends Execution {
    exit_ns: number;
    place: number;
    of: number;
    usual_duration_ns: number;
    paths: PathShare[];
    structure?: Structure | null;
    peers: string[];
    cause?: CauseLink[] | null;
    cause_end?: string | null;
    incident: Incident | null;
}

export interface Subtree {
    importance: number; /* log of how many times more of it there is; below 0: less */
    subtree: string;
    function: string;
    degree: number;
    calls: number;
    usual_calls: number;
    inclusive_ns: number;
    usual_ns: number;
    vertices_here: number[];
}

export interface TreeNode {
    parent: number;
    region: number;
    calls: number;
    inclusive_ns: number;
    exclusive_ns: number;
    usual_ns: number | null;
    usual_calls: number;
    excess_ns: number;
    rarity: number;
    call: number;
    location: number;
}

export interface Tree {
    nodes: TreeNode[];
}

export interface CallAt {
    region: number;
    enter_ns: number;
    leave_ns: number;
    exclusive_ns: number;
    depth: number;
    parent: number | null;
    n_children: number;
    before: number | null; /* in its depth of the location */
    after: number | null;
    first_child: number | null;
    path: number[];
    messages: { is_send: boolean; peer: number; bytes: number; tag: number }[]; /* the first */
    n_messages: number;
    collective: { sent_bytes: number; received_bytes: number; root: number | null } | null;
    dependencies: CallDependency[]; /* the first */
    n_dependencies: number;
    arguments: CallArgument[]; /* the first */
    n_arguments: number;
    counters: CallCounter[]; /* the first */
    n_counters: number;
}

/* A call that launched this one, or had to be over before it; or (is_from) the other way round. */
export interface CallDependency {
    kind: "launch" | "order" | "wait";
    is_from: boolean;
    location: number;
    call: number;
    region: number;
    delay_ns: number;
}

export interface CallArgument {
    name: string;
    value: number | string | boolean | null;
}

/* A counter of the trace. */
export interface Counter {
    id: number;
    name: string;
    unit: string;
    mode: CallCounter["mode"];
    span: CallCounter["span"];
    shows: "rate" | "value" /* over time */;
}

/* With its time, which is not that of a border of the call. */
export interface CounterReading {
    time_ns: number;
    value: number | null;
}

/* What a counter says of a call: null is what it does not say. */
export interface CallCounter {
    name: string;
    unit: string;
    mode: "unknown" | "accumulated" | "absolute" | "relative";
    span: "point" | "start" | "last" | "next";
    location: number | null /* one without calls that read it; null: that of the call */;
    inclusive: number | null;
    own: number | null;
    per_s: number | null;
    begin: number | null;
    end: number | null;
    before: CounterReading | null;
    last: CounterReading | null;
    n_readings: number | null;
    least: number | null;
    greatest: number | null;
}

/* What one location did in a collective. */
export interface CollectivePart {
    location: number;
    call: number;
    begin_ns: number;
    end_ns: number;
    wait_ns: number;
    sent_bytes: number;
    received_bytes: number;
}

export interface Collective {
    region: number;
    kind: "barrier" | "all to all" | "one to all" | "all to one" | "other";
    comm: string;
    members: number /* 0: not known */;
    known: number;
    last_location: number /* the last to arrive, or the root that is waited for */;
    last_call: number;
    last_ns: number;
    wait_ns: number;
    sent_bytes: number;
    received_bytes: number;
    parts: CollectivePart[] /* those that waited longest */;
}

/* What a stretch of time on some locations holds. */
export const measuredBys = ["region", "rank", "path"] as const;
export type MeasuredBy = (typeof measuredBys)[number];

/* What all calls of a region, of a rank, or of a call path add up to. */
export interface Measured {
    region: number; /* by rank there is none */
    rank: number; /* by rank alone */
    caller: number | null; /* by path: which of the items is the path of its caller */
    calls: number;
    total_ns: number;
    own_ns: number;
}

/* Why an execution is strange: a function takes longer, MPI does, barriers do, all does; it takes less; has other calls; does
   not end. */
export const reasonKinds = ["work", "mpi", "barrier", "all", "less", "calls", "open"] as const;
export type ReasonKind = (typeof reasonKinds)[number];

/* What there is to filter by, with how many executions are so. */
export interface Choices {
    functions: { name: string; place: string | null; executions: number }[];
    kinds: { kind: ReasonKind; executions: number }[];
}

/* What functions took in what passes the filter. */
export interface FilteredMeasure {
    begin_ns: number;
    end_ns: number;
    is_of_executions: boolean /* else of all that ran then on these lanes */;
    items: Measured[];
}

export interface Measure {
    begin_ns: number;
    end_ns: number;
    locations: number;
    items: Measured[];
    messages: { sent: number; sent_bytes: number; received: number; received_bytes: number };
}

export interface NextCall {
    location: number;
    call: number;
    enter_ns: number;
    leave_ns: number;
    depth: number;
    place: number /* among those of its region, in the order asked for, */;
    total: number /* of so many */;
}

/* What was labelled at once, and the executions whose verdict would be another one without. */
export interface LabelEffect {
    id: string /* the first that was labelled */;
    tree: number;
    label: Label | "none";
    labels: number;
    n_moved: number;
    moved: { id: string; tree: number }[] /* the first few */;
}

export interface Learning {
    learner: string;
    features: string;
    score_features: string;
    gamma: number | null /* taken from the data */;
    nu: number;
    retrain: number | null /* as the run was analysed */;
    learners: { name: string; what: string; uses_features: boolean }[];
    feature_kinds: string[];
}

export interface Retrained {
    retrain: number;
    learner?: string /* none where the detector's own scores hold */;
    features?: string;
    abnormal: number;
    normal: number;
    anomalies: number;
    n_changes?: number;
    changes: { id: string; tree: number; score: number; before: number; verdict: Verdict }[];
    by: LabelEffect[];
}

/* What is said of the projection that is being made. */
export interface ProjectionState {
    foi: number;
    method: string;
    iteration: number;
    iterations: number;
    cost: number | null;
    running: boolean;
}

/* What one place does differently on one call path. */
export interface PeerPath {
    path: string;
    stage: number | null /* of the worker there that it is of */;
    kind: "slower" | "more to do";
    factor: number | null /* null: most others do not come there */;
    places: number /* that do */;
    kernel: string | null /* for which its GPU, or its thread of autograd, takes longer, ... */;
    kernel_on: "GPU" | "thread" | null;
    kernel_factor: number | null /* ... and so many times as long */;
    excess_ns: number;
    share: number /* of its calls there, or its executions, that take longer */;
    share_of: "calls" | "executions";
    since_ns: number;
    is_from_start: boolean /* from the first execution on */;
    is_sure: boolean;
}

export interface Place {
    place: string;
    program: number;
    rank: number;
    thread: number;
    verdict: "slow" | "imbalanced" | "waits" | "unsure" | "usual";
    executions: number;
    own_ns: number;
    wait_ns: number;
    slowdown: number;
    cost_ns: number | null;
    cost_least_ns?: number | null /* it lies between these */;
    cost_most_ns?: number | null;
    paths: PeerPath[];
    waits_for: string | null;
}

/* What the places that are compared may be. */
export const placeKinds = ["rank", "thread", "node", "program", "worker", "stage"] as const;
export type PlaceKind = (typeof placeKinds)[number];

export interface Operation {
    name: string;
    slowdown: number;
    time_ns: number;
}

/* A thread that always takes longer than the others of its teams. */
export interface TeamThread {
    place: string;
    rank: number;
    thread: number;
    verdict: string;
    factor: number;
    excess_ns: number;
    why: string;
    cost_ns: number | null;
    cost_least_ns?: number | null /* it lies between these */;
    cost_most_ns?: number | null;
}

/* Places against their peers. */
export interface Ranks {
    foi: string;
    slowdown: number | null;
    slowdown_is_bound?: boolean /* it is at most that */;
    by: PlaceKind;
    places: Place[];
    of_location: (number | null)[] /* place of each location */;
    operations: Operation[];
    teams?: { compared: number; threads: number; slow: TeamThread[] };
    history: {
        begin_ns: number;
        bin_ns: number;
        width: number;
        factor: number[] /* [places * width] own work against the usual; 0: none */;
    };
}
