// The state of the page, as signals. What a link has to restore is printed into the URL (url.ts);
// the rest comes from the server.
import { computed, signal } from "@preact/signals";
import { Column } from "../api/columns";
import {
    Counter,
    Foi,
    MeasuredBy,
    PlaceKind,
    ProjectionState,
    Region,
    Run,
} from "../api/types";
import { ArrowKind } from "../format/arrow_words";
import { typicalWords } from "../format/typical_words";
import { firstFilter } from "./filter";
import { ViewName, viewsAtFirst } from "./views";

export const messageMeasures = [
    "bytes",
    "messages",
    "mean_ns",
    "longest_ns",
    "wait_ns",
    "longest_wait_ns",
] as const;
export type MessageMeasure = (typeof messageMeasures)[number];

export const projections = ["pca", "mds", "tsne"] as const;
export const attributes = [
    "enter_ns",
    "exit_ns",
    "duration_ns",
    "rank",
    "score",
    "messages",
    "vertices",
] as const;
export type Attribute = (typeof attributes)[number];
export type Plane = (typeof projections)[number] | "attributes";
export type ColourBy = "verdict" | "score" | "label" | "rank" | "side";

/* One row per execution, in the order of the trees. */
export interface Executions {
    n: number;
    enter_ns: Float64Array;
    duration_ns: Float64Array;
    score: Float32Array;
    verdict: Uint8Array; /* 1: anomaly */
    label: Int8Array; /* 1 abnormal, -1 normal, 0 none */
    side?: Uint8Array; /* of runs that are compared: 0 before, 1 after */
    runOf?: (tree: number) => string; /* its name */
}

/* More of the same rows. They come a little later, so that the first points are there earlier. */
export interface Details {
    rank: Uint32Array;
    thread: Uint32Array;
    index: Uint32Array;
    vertices: Uint32Array;
    messages: Uint32Array;
}

/* A stretch of time on some lanes of the timeline, to be measured. */
export interface Area {
    begin: number;
    end: number;
    locations: number[];
}

/* One message, or another arrow, and the calls around its ends. */
export interface ChosenMessage {
    kind: ArrowKind;
    from: number;
    to: number;
    send_ns: number;
    recv_ns: number;
    send_call: number;
    recv_call: number;
    bytes?: number;
    tag?: number;
}

interface Notice {
    text: string;
    isError: boolean;
    act?: { name: string; run: () => void }; /* what can be done about it */
}

// From the server
export const run = signal<Run | null>(null);
export const executions = signal<Executions | null>(null);
export const details = signal<Details | null>(null);
export const regions = signal<Map<number, Region>>(new Map());
export const counters = signal<Counter[]>([]);
export const plane = signal<{ x: Column; y: Column } | null>(
    null,
); /* of the projection shown */
export const moving = signal<ProjectionState | null>(
    null,
); /* the projection being made, of whichever function: there is one at a time */

// In the URL
export const foiId = signal<number | null>(null);
export const selected = signal<number | null>(null);
export const lassoed = signal<Uint32Array | null>(null);
export const mark = signal<string[] | null>(null); /* a call path that is shown everywhere */
export const markedCalls = signal<Uint32Array | null>(
    null,
); /* or calls of the selected execution, by their place in its preorder */
export const timeWindow = signal<[number, number] | null>(
    null,
); /* null: the selected execution */
export const shownRanks = signal<number[] | null>(null); /* locations; null: the partners */
export const chosenCall = signal<{ location: number; call: number } | null>(null);
export const measuredFrom = signal<{ location: number; call: number } | null>(
    null,
); /* the distance from this call to the chosen one is said */
export const chosenCollective = signal<{ location: number; call: number } | null>(
    null,
); /* by a call that takes part in it */
export const area = signal<Area | null>(null);
export const areaBy = signal<MeasuredBy>("region");
export const areaOrder = signal<{ key: string; isDown: boolean }>({
    key: "own_ns",
    isDown: true,
});
export const views = signal<ViewName[]>(viewsAtFirst);
export const front = signal<ViewName | null>(
    null,
); /* of views that share a place; null: the first */
export const planeName = signal<Plane | null>(null); /* null: the best there is */
export const xAttribute = signal<Attribute>("enter_ns");
export const yAttribute = signal<Attribute>("duration_ns");
export const colourBy = signal<ColourBy>("verdict");
export const zoomed = signal<{ k: number; x: number; y: number } | null>(
    null,
); /* the middle of the overview (canvas/centre.ts); null: all of it */
export const sampling = signal(100); /* percent of the normal executions that are drawn */
export const filter = signal(firstFilter);
export const structureKind = signal<"icicle" | "force">("icicle");
export const callColours = signal<"kind" | "function" | "excess">("kind");
export const linksShown = signal<"all" | "messages" | "collectives" | "launches" | "none">(
    "all",
);
export const counterShown = signal(""); /* by its name; "": none */
export const counterAs = signal<"meant" | "rate" | "value">("meant");
export const isStretched = signal(false); /* the two executions of the structure */
export const openRanks = signal<Record<number, boolean>>({}); /* what a person folded or not */
export const openThreads = signal<Record<number, boolean>>(
    {},
); /* the same of a rank's threads */
export const pinnedRanks = signal<number[]>([]); /* they stay while other lanes scroll */
export const placesBy = signal<PlaceKind | "">(""); /* in the view of ranks; "": what fits */
export const mapOf = signal("lost"); /* lost, waiting, or the id of a function */
export const mapOrder = signal<"rank" | "most">("rank");
export const mapRanks = signal(""); /* as readLanes() has it; "": all */
export const regionFilter = signal("");
export const regionOrder = signal<{ key: string; isDown: boolean }>({
    key: "exclusive_ns",
    isDown: true,
});
export const regionsOf = signal<"run" | "window" | "lanes">(
    "run",
); /* the functions of the run, or of what the timeline shows: its window, on its lanes alone */
export const messagesBy = signal<MessageMeasure>("bytes");
export const messagesOf = signal<"run" | "window">("run");
export const sqlAsked = signal(""); /* "": nothing */
export const sqlShows = signal<"table" | "chart">("table");
export const depthLimit = signal(6);
export const whyThreshold = signal(2); /* percent of the excess */

// Only here
export const chosenMessage = signal<ChosenMessage | null>(null);
export const markedCallPaths = signal<string[][] | null>(null); /* those of markedCalls */
export const labelsVersion = signal(0); /* counts changes of labels ... */
export const scoresVersion = signal(0); /* ... and of scores */
export const busy = signal<string | null>(null);
export const notice = signal<Notice | null>(null);
export const theme = signal(
    matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
);

/* What is chosen in the timeline; null: nothing. */
export const chosen = computed(
    () => area.value ?? chosenMessage.value ?? chosenCollective.value ?? chosenCall.value,
);

export const foi = computed<Foi | null>(() => {
    const fois = run.value?.fois ?? []; /* the run in a report has none */
    return fois.find((f) => f.id === foiId.value) ?? fois[0] ?? null;
});

/* There are too few executions to say what is typical: each stands beside the median of all. */
export const isFew = computed(() => foi.value?.outcome?.is_few ?? false);
/* What an execution is that is no anomaly. */
export const calm = computed(() => (isFew.value ? "not judged" : "normal"));
export const typicalNow = computed(() => typicalWords(isFew.value));

/* Executions whose label is another than was learnt. */
export const labelsToLearn = computed(() => foi.value?.labels.to_learn ?? 0);

/* Changes only when another function is asked about, not when something of it changed. */
export const foiShown = computed<number | undefined>(() => foi.value?.id);

/* The projection to draw: the one asked for, else the first there is, else attributes. */
export const planeShown = computed<Plane>(() => {
    if (planeName.value) return planeName.value;
    const there = foi.value?.projections.map((p) => p.method) ?? [];
    return projections.find((p) => there.includes(p)) ?? "attributes";
});

/* It is the one that is shown. */
export const movingHere = computed(() => {
    const is = moving.value;
    return is?.foi === foiShown.value && is?.method === planeShown.value ? is : null;
});

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
    theme.value = event.matches ? "dark" : "light";
});
