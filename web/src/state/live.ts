// What the page knows of a program that is live. The server says that there is something new, at
// most a few times a second; what is shown follows, unless it is paused.
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { listenLive } from "../api/events";
import { getBundle, getJson, isOnline } from "../api/http";
import { LiveList, LiveRegion, LiveStatus, LiveStep, RecordItem } from "../api/live_types";
import { append, Drawn, drawnOf, LivePoints, pointsOf } from "../canvas/live_points";
import { Looked } from "./live_call";
import { changeRecords } from "./live_records";
import { queryOf, timesBack } from "./query";
import { Attribute } from "./store";

const refreshMs = 500;
const retryMs = 5000;
const firstPoints = 20000;
const morePoints = 5000;
const mostPoints = 60000;

// From the server
export const newest = signal(0); /* version there is */
const asked = signal(0); /* version that was asked for */
const isStarted = signal(false);

/* How it stands, as last heard. What views ask for themselves follows `shown`. */
export const statusQuery = queryOf<LiveStatus>(() =>
    isStarted.value
        ? {
              about: "status",
              version: `${asked.value} ${timesBack.value}`,
              isPatient: true,
              ask: (abort) => getJson("/live/status", abort),
          }
        : null,
);
export const status = computed<LiveStatus | null>(() => statusQuery.answer.value.value);
export const shown = computed(() => status.value?.version ?? 0); /* version that is shown */

const namesQuery = queryOf<LiveList<LiveRegion>>(() => {
    const now = status.value;
    if (!now) return null;
    return {
        about: `names of ${now.run}`,
        version: now.regions,
        isPatient: true,
        ask: (abort) => getJson("/live/regions?limit=10000", abort),
    };
});
export const regionNames = computed<Map<number, LiveRegion>>(
    () => new Map((namesQuery.answer.value.value?.items ?? []).map((r) => [r.region, r])),
);

// Chosen: one selection for all views
export const isPaused = signal(false);
export const regionChosen = signal<number | null>(null);
export const rankChosen = signal<number | null>(null);
export const spanChosen = signal<[number, number] | null>(null); /* ns */
export const looked = signal<Looked | null>(null);

// Chosen: how a view shows it
export const coloursOfPoints = ["verdict", "region", "rank", "score"] as const;
export const planes = ["anomalies", "severity_ns", "calls", "exclusive_ns"] as const;
export const kindChosen = signal<"" | "calls" | "executions">(""); /* "": as is usual there */
export const windowNs = signal<number | null>(null); /* only the newest; null: all */
export const samplingChosen = signal(100);
export const xChosen = signal<Attribute>("enter_ns");
export const yChosen = signal<Attribute>("duration_ns");
export const colourChosen = signal<(typeof coloursOfPoints)[number]>("verdict");
export const planeChosen = signal<(typeof planes)[number]>("anomalies");
export const statistic = signal("anomalies.total");
export const modelRegion = signal<number | null>(
    null,
); /* null: of what is looked at, or the first */

export const areNamesComing = computed(() => namesQuery.answer.value.isLoading);
export const nameOfRegion = (region: number) =>
    regionNames.value.get(region)?.short_name ??
    (areNamesComing.value ? "..." : `region ${region}`);
const shortNames = computed(
    () => new Map([...regionNames.value.values()].map((r) => [r.name, r.short_name])),
);
const regionsByName = computed(
    () => new Map([...regionNames.value.values()].map((r) => [r.name, r.region])),
);
const regionOfName = (name: string) => regionsByName.value.get(name) ?? null;
const firstPage = () => changeRecords({});
/* Records have full names. */
export const shortName = (name: string) => shortNames.value.get(name) ?? name;
export const isOver = computed(
    () => status.value?.state === "over" || status.value?.state === "failed",
);

export const isChosen = computed(
    () => regionChosen.value !== null || rankChosen.value !== null || spanChosen.value !== null,
);
export const funcOf = (of: Looked) => of.func ?? nameOfRegion(of.region ?? -1);

/* Which points are asked for. */
const question = computed(() => {
    const span = spanChosen.value;
    const all: [string, string | number | null][] = [
        ["kind", kindChosen.value || null],
        ["fois", regionChosen.value],
        ["ranks", rankChosen.value],
        ["from", span && Math.floor(span[0])],
        ["to", span && Math.ceil(span[1])],
    ];
    return all.flatMap(([key, x]) => (x === null ? [] : `&${key}=${x}`)).join("");
});
/* What is here of a question: more of it is put behind. */
interface Held {
    about: string;
    points: LivePoints;
    next: number;
    takenBack: number;
    hidden: number; /* points that the server has not sent, or that were too many to be kept here */
    missed: number; /* points that it had forgotten before we asked */
}
let held: Held | null = null;

async function loadPoints(about: string, query: string, abort: AbortSignal): Promise<Held> {
    const before = held?.about === about ? held : null;
    const [since, most] = before ? [before.next, morePoints] : [0, firstPoints];
    const { header, columns } = await getBundle(
        `/live/points?since=${since}&most=${most}${query}`,
        abort,
    );
    abort.throwIfAborted();
    const [next, takenBack] = [header.next as number, header.taken_back as number];
    // Another server than before, or not all of what we have is strange any more.
    if (before && (next < before.next || takenBack !== before.takenBack)) {
        held = null;
        return loadPoints(about, query, abort);
    }
    const fresh = pointsOf({ header, columns });
    const { points, left } = before
        ? append(before.points, fresh, header.oldest as number, mostPoints)
        : { points: fresh, left: 0 };
    held = {
        about,
        points,
        next,
        takenBack,
        hidden: (before?.hidden ?? 0) + (header.hidden as number) + left,
        missed: (before?.missed ?? 0) + (header.missed as number),
    };
    return held;
}

export const pointsQuery = queryOf<Held>(() => {
    const now = status.value;
    if (!now) return null;
    const query = question.value;
    const about = `points of ${now.run} ${query}`;
    return {
        about,
        version: now.version,
        isPatient: true,
        ask: (abort) => loadPoints(about, query, abort),
    };
});
export const points = computed<LivePoints | null>(
    () => pointsQuery.answer.value.value?.points ?? null,
);

export const drawn = computed<Drawn | null>(
    () => points.value && drawnOf(points.value, samplingChosen.value, windowNs.value),
);

/* What the page could not be told. */
export const liveError = computed(
    () => statusQuery.answer.value.error ?? pointsQuery.answer.value.error,
);

/* Of which the points are and records are shown; what is chosen twice is not chosen any more. */
export function toggleRegion(region: number | null): void {
    regionChosen.value = regionChosen.value === region ? null : region;
    if (region !== null) modelRegion.value = region;
    if (regionChosen.value !== null && !status.value?.fois.includes(regionChosen.value))
        kindChosen.value = "calls"; /* it has no executions */
    firstPage();
}

export function toggleRank(rank: number | null): void {
    rankChosen.value = rankChosen.value === rank ? null : rank;
    firstPage();
}

export function chooseSpan(span: [number, number] | null): void {
    spanChosen.value = span;
    windowNs.value = null;
    firstPage();
}

export function chooseAll(): void {
    batch(() => {
        regionChosen.value = null;
        rankChosen.value = null;
        chooseSpan(null);
    });
}

export function lookAt(row: number): void {
    const all = points.value;
    if (!all) return;
    const region = all.region[row];
    modelRegion.value = region;
    looked.value = {
        kind: all.kind[row],
        isAnomaly: all.verdict[row] === 1,
        isJudged: all.isJudged[row] === 1,
        rank: all.rank[row],
        program: all.program[row],
        thread: all.thread[row],
        region,
        index: all.index[row],
        enter_ns: all.enter_ns[row],
        duration_ns: all.duration_ns[row],
        exclusive_ns: all.exclusive_ns[row],
        score: all.isJudged[row] ? all.score[row] : null,
        record: null,
        func: null,
    };
}

export function lookAtRecord(item: RecordItem): void {
    const region = regionOfName(item.func);
    if (region !== null) modelRegion.value = region;
    looked.value = {
        kind: item.execution ? 1 : 0,
        isAnomaly: item.collection === "anomalies",
        isJudged: true,
        rank: item.rank,
        program: item.program,
        thread: item.thread,
        region,
        index: item.execution?.index ?? null,
        enter_ns: item.enter_ns,
        duration_ns: item.inclusive_ns,
        exclusive_ns: item.exclusive_ns,
        score: item.score,
        record: item.id,
        func: shortName(item.func),
    };
}

export function startLive(): void {
    if (isStarted.value) return;
    isStarted.value = true;
    const hear = (step: LiveStep) => (newest.value = step.version);
    listenLive({ step: hear, over: hear });
    // What is new is asked for a few times a second, unless it is paused.
    let lastAsked = Date.now();
    effect(() => {
        const isNew = !isPaused.value && newest.value !== shown.value;
        const { isLoading, error } = statusQuery.answer.value;
        if (!isNew || isLoading || !isOnline.value) return;
        const again = () => {
            lastAsked = Date.now();
            asked.value++;
        };
        const next = lastAsked + (error === null ? refreshMs : retryMs);
        const timer = setTimeout(again, Math.max(0, next - Date.now()));
        return () => clearTimeout(timer);
    });
    // A server that starts anew counts anew, and another program is not the one that was looked at.
    let last: LiveStatus | null = null;
    effect(() => {
        const now = status.value;
        const isOther = last && now && (now.version < last.version || now.run !== last.run);
        last = now;
        untracked(() => {
            if (isOther) looked.value = null;
            // A stream of events begins with the next one: what is there already it does not say.
            if (now && (isOther || newest.value < now.version)) newest.value = now.version;
        });
    });
}
