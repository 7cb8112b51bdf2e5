// What the page knows of a program that is live. The server says that there is something new, at
// most a few times a second; what is shown follows, unless it is paused.
import { batch, computed, effect, signal } from "@preact/signals";
import { listenLive } from "../api/events";
import { getBundle, getJson, isOnline } from "../api/http";
import { LiveList, LiveRegion, LiveStatus, LiveStep, RecordItem } from "../api/live_types";
import { append, LivePoints, pointsOf } from "../canvas/live_points";
import { Looked } from "./live_call";
import { changeRecords } from "./live_records";
import { timesBack } from "./resource";
import { Attribute } from "./store";

const refreshMs = 500;
const retryMs = 5000;
const firstPoints = 20000;
const morePoints = 5000;
const mostPoints = 60000;

// From the server
export const newest = signal(0); /* version there is */
export const shown = signal(0); /* version that is shown */
export const status = signal<LiveStatus | null>(null);
export const points = signal<LivePoints | null>(null);
export const hiddenThere = signal(0); /* normal points that the server has not sent */
export const missed = signal(0); /* points that it had forgotten before we asked */
export const regionNames = signal<Map<number, LiveRegion>>(new Map());
export const liveError = signal<string | null>(null);

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

export const nameOfRegion = (region: number) =>
    regionNames.value.get(region)?.short_name ?? `region ${region}`;
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
const asked = signal(""); /* the question that `points` answer */
let next = 0;
let takenBack = 0;

async function loadPoints(): Promise<void> {
    const query = question.value;
    const isFirst = query !== asked.value || !points.value;
    const { header, columns } = await getBundle(
        `/live/points?since=${isFirst ? 0 : next}&most=${isFirst ? firstPoints : morePoints}${query}`,
    );
    const fresh = pointsOf({ header, columns });
    /* another server than before, or not all of what we have is strange any more */
    if (!isFirst && ((header.next as number) < next || header.taken_back !== takenBack)) {
        points.value = null;
        return loadPoints();
    }
    batch(() => {
        points.value = isFirst
            ? fresh
            : append(points.value!, fresh, header.oldest as number, mostPoints);
        hiddenThere.value = (isFirst ? 0 : hiddenThere.value) + (header.hidden as number);
        missed.value = (isFirst ? 0 : missed.value) + (header.missed as number);
        next = header.next as number;
        takenBack = header.taken_back as number;
        asked.value = query;
    });
}

async function loadNames(regions: number): Promise<void> {
    if (regionNames.value.size >= regions) return;
    const list = await getJson<LiveList<LiveRegion>>("/live/regions?limit=10000");
    regionNames.value = new Map(list.items.map((r) => [r.region, r]));
}

/* Other points of the time there is; a pause does not matter. */
async function ask(): Promise<void> {
    try {
        await loadPoints();
        liveError.value = null;
    } catch (error) {
        liveError.value = (error as Error).message;
    }
}

/* Everything that is not asked for by a view of its own. */
export async function refresh(): Promise<void> {
    try {
        const fresh = await getJson<LiveStatus>("/live/status");
        const isOther = fresh.version < shown.value; /* another server than before */
        if (isOther || (status.value && fresh.run !== status.value.run)) {
            points.value = null;
            regionNames.value = new Map();
            looked.value = null;
        }
        await loadNames(fresh.regions);
        await loadPoints();
        batch(() => {
            status.value = fresh;
            shown.value = fresh.version;
            newest.value = isOther ? fresh.version : Math.max(fresh.version, newest.value);
        });
        liveError.value = null;
    } catch (error) {
        liveError.value = (error as Error).message;
    }
}

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
        rank: all.rank[row],
        program: all.program[row],
        thread: all.thread[row],
        region,
        index: all.index[row],
        enter_ns: all.enter_ns[row],
        duration_ns: all.duration_ns[row],
        exclusive_ns: all.exclusive_ns[row],
        score: all.score[row],
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

let isStarted = false;

export function startLive(): void {
    if (isStarted) return;
    isStarted = true;
    const hear = (step: LiveStep) => (newest.value = step.version);
    listenLive({ step: hear, over: hear });
    let isAsking = false;
    const follow = async () => {
        const isNew = !isPaused.value && newest.value !== shown.value;
        if (isAsking || !isOnline.value || !(isNew || question.value !== asked.value)) return;
        isAsking = true;
        await (isNew ? refresh() : ask());
        setTimeout(
            () => {
                isAsking = false;
                follow();
            },
            liveError.value === null ? refreshMs : retryMs,
        );
    };
    effect(() => {
        void [newest.value, shown.value, isPaused.value, isOnline.value];
        void [question.value, asked.value];
        follow();
    });
    effect(() => {
        void timesBack.value; /* at the start, too */
        refresh();
    });
}
