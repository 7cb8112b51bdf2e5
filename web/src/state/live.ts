// What the page knows of a program that is live. The server says that there is something new, at
// most a few times a second; what is shown follows, unless it is paused.
import { computed, effect, signal } from "@preact/signals";
import { listenLive } from "../api/events";
import { getBundle, getJson, isOnline } from "../api/http";
import { LiveList, LiveRegion, LiveStatus, LiveStep } from "../api/live_types";
import { append, LivePoints, pointsOf } from "../canvas/live_points";
import { Attribute, ColourBy } from "./store";

const refreshMs = 500;
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

// Chosen
export const isPaused = signal(false);
export const foiChosen = signal<number | null>(null); /* a region; null: all */
export const rankChosen = signal<number | null>(null);
export const windowNs = signal<number | null>(null); /* only the newest; null: all */
export const samplingChosen = signal(100);
export const xChosen = signal<Attribute>("enter_ns");
export const yChosen = signal<Attribute>("duration_ns");
export const colourChosen = signal<ColourBy | "region">("verdict");
export const planeChosen = signal<"anomalies" | "calls" | "severity_ns" | "exclusive_ns">(
    "anomalies",
);
export const statistic = signal("anomalies.total");
export const modelRegion = signal<number | null>(null); /* null: that of the first anomaly */

/* What is looked at closely: a point, or a record. */
export interface Looked {
    rank: number;
    program: number;
    thread: number;
    enter_ns: number;
    func: string;
    duration_ns: number;
    exclusive_ns: number;
    score: number;
    isAnomaly: boolean;
    record: number | null; /* its id; null: not known yet */
}
export const looked = signal<Looked | null>(null);

export const nameOfRegion = (region: number) =>
    regionNames.value.get(region)?.short_name ?? `region ${region}`;
const shortNames = computed(
    () => new Map([...regionNames.value.values()].map((r) => [r.name, r.short_name])),
);
/* Records have full names. */
export const shortName = (name: string) => shortNames.value.get(name) ?? name;
export const isOver = computed(
    () => status.value?.state === "over" || status.value?.state === "failed",
);

let next = 0;

async function loadPoints(): Promise<void> {
    const foi = foiChosen.value;
    const isFirst = next === 0 || !points.value;
    const { header, columns } = await getBundle(
        `/live/points?since=${isFirst ? 0 : next}&most=${isFirst ? firstPoints : morePoints}` +
            (foi === null ? "" : `&fois=${foi}`),
    );
    if (foi !== foiChosen.value) return;
    const fresh = pointsOf({ header, columns });
    if ((header.next as number) < next) {
        next = 0; /* another server than before */
        newest.value = 0;
        points.value = null;
        return loadPoints();
    }
    points.value = isFirst
        ? fresh
        : append(points.value!, fresh, header.oldest as number, mostPoints);
    hiddenThere.value = (isFirst ? 0 : hiddenThere.value) + (header.hidden as number);
    missed.value = (isFirst ? 0 : missed.value) + (header.missed as number);
    next = header.next as number;
}

async function loadNames(regions: number): Promise<void> {
    if (regionNames.value.size >= regions) return;
    const list = await getJson<LiveList<LiveRegion>>("/live/regions?limit=10000");
    regionNames.value = new Map(list.items.map((r) => [r.region, r]));
}

/* Everything that is not asked for by a view of its own. */
async function refresh(): Promise<void> {
    try {
        const fresh = await getJson<LiveStatus>("/live/status");
        await loadNames(fresh.regions);
        await loadPoints();
        status.value = fresh;
        shown.value = fresh.version;
        if (fresh.version > newest.value || next === 0) newest.value = fresh.version;
        liveError.value = null;
    } catch (error) {
        liveError.value = (error as Error).message;
    }
}

export function chooseFoi(region: number | null): void {
    foiChosen.value = region;
    if (region !== null) modelRegion.value = region;
    next = 0;
    points.value = null;
    refresh();
}

export function lookAt(row: number): void {
    const all = points.value;
    if (!all) return;
    const region = all.region[row];
    modelRegion.value = region;
    looked.value = {
        rank: all.rank[row],
        program: all.program[row],
        thread: all.thread[row],
        enter_ns: all.enter_ns[row],
        func: nameOfRegion(region),
        duration_ns: all.duration_ns[row],
        exclusive_ns: all.exclusive_ns[row],
        score: all.score[row],
        isAnomaly: all.verdict[row] === 1,
        record: null,
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
        if (isAsking || isPaused.value || !isOnline.value || newest.value === shown.value)
            return;
        isAsking = true;
        await refresh();
        setTimeout(() => {
            isAsking = false;
            follow();
        }, refreshMs);
    };
    effect(() => {
        void [newest.value, shown.value, isPaused.value, isOnline.value];
        follow();
    });
    refresh();
}
