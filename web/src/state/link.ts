// Which signals are in the URL, and keeping the two the same. A new selection, or another
// window of the timeline, is a step in the history of the browser; settings only replace the step they
// belong to.
import { effect, Signal } from "@preact/signals";
import {
    area,
    attributes,
    callColours,
    chosenCall,
    chosenCollective,
    colourBy,
    counterAs,
    counterShown,
    depthLimit,
    executions,
    filter,
    foiId,
    isStretched,
    lassoed,
    linksShown,
    mark,
    markedCalls,
    openRanks,
    openThreads,
    pinnedRanks,
    placesBy,
    planeName,
    mapOf,
    mapOrder,
    mapRanks,
    regionFilter,
    regionOrder,
    run,
    sampling,
    selected,
    shownRanks,
    structureKind,
    timeWindow,
    views,
    whyThreshold,
    xAttribute,
    yAttribute,
    zoomed,
} from "./store";
import { placeKinds } from "../api/types";
import { callOf, folds, number, numbers, oneOf, span } from "./fields";
import { printFilter, readFilter } from "./list_filter";
import { comparedFields, isComparedStep } from "./compared_link";
import { isLiveStep, liveFields } from "./live_link";
import { firstViewsOf, viewNames } from "./views";
import { Field, packTrees, printState, readState, unpackTrees } from "./url";

const mostCallsInLink = 1e6; /* of an execution; what a link says is not believed beyond it */
const restMs = 150;
const mostTreesInLink = 2000; /* ranges of a lasso beyond it would make no usable URL */

function list(key: string, of: Signal<string[] | null>): Field {
    return {
        key,
        print: () => (of.value ? JSON.stringify(of.value) : null),
        read: (text) => {
            try {
                const value = text ? JSON.parse(text) : null;
                of.value =
                    Array.isArray(value) && value.every((v) => typeof v === "string")
                        ? value
                        : null;
            } catch {
                of.value = null;
            }
        },
    };
}

const firstViews = () => firstViewsOf(run.value?.locations.length ?? 0);

const fields: Field[] = [
    number("foi", foiId, 0, 1e9),
    number("tree", selected, 0, 4e9),
    {
        key: "views",
        print: () =>
            views.value.join() === firstViews().join() ? null : views.value.join(","),
        read: (text) => {
            const known = viewNames.filter((name) => text?.split(",").includes(name));
            views.value = known.length ? known : firstViews();
        },
    },
    span("window", timeWindow),
    {
        key: "ranks",
        print: () => shownRanks.value?.join(",") ?? null,
        read: (text) => (shownRanks.value = numbers(text)),
    },
    callOf("call", chosenCall),
    callOf("collective", chosenCollective),
    {
        key: "area",
        print: () =>
            area.value &&
            [area.value.begin, area.value.end].map(Math.round).join() +
                `:${area.value.locations.join()}`,
        read: (text) => {
            const [span = "", lanes = ""] = (text ?? "").split(":");
            const [time, locations] = [numbers(span), numbers(lanes)];
            const isArea = time?.length === 2 && time[1] > time[0] && locations;
            area.value = isArea ? { begin: time[0], end: time[1], locations } : null;
        },
    },
    list("mark", mark),
    {
        key: "calls",
        print: () =>
            markedCalls.value && markedCalls.value.length <= mostTreesInLink
                ? packTrees(markedCalls.value)
                : null,
        read: (text) => (markedCalls.value = text ? unpackTrees(text, mostCallsInLink) : null),
    },
    {
        key: "plane",
        print: () => planeName.value,
        read: (text) =>
            (planeName.value = ["pca", "mds", "tsne", "attributes"].includes(text ?? "")
                ? (text as any)
                : null),
    },
    oneOf("calls-by", callColours, ["kind", "function", "excess"]),
    oneOf("links", linksShown, ["all", "messages", "collectives", "launches", "none"]),
    {
        key: "counter",
        print: () => counterShown.value || null,
        read: (text) => (counterShown.value = text ?? ""),
    },
    oneOf("counter-as", counterAs, ["meant", "rate", "value"]),
    oneOf("x", xAttribute, attributes),
    oneOf("y", yAttribute, attributes),
    oneOf("colour", colourBy, ["verdict", "score", "label", "rank", "side"]),
    number("sample", sampling as Signal<number | null>, 0, 100),
    oneOf("places", placesBy, placeKinds),
    oneOf("tree-as", structureKind, ["icicle", "force"]),
    {
        key: "zoom",
        print: () => {
            const at = zoomed.value;
            return at && [at.k, at.x, at.y].map((v) => Number(v.toPrecision(6))).join(",");
        },
        read: (text) => {
            const [k, x, y, ...more] = (text ?? "").split(",").map(Number);
            const isOne = text && !more.length && k >= 0.5 && k <= 20000;
            zoomed.value =
                isOne && Number.isFinite(x) && Number.isFinite(y) ? { k, x, y } : null;
        },
    },
    {
        key: "stretch",
        print: () => (isStretched.value ? "1" : null),
        read: (text) => (isStretched.value = text === "1"),
    },
    folds("open", openRanks),
    folds("threads", openThreads),
    {
        key: "pinned",
        print: () => pinnedRanks.value.join(",") || null,
        read: (text) => (pinnedRanks.value = [...new Set(numbers(text) ?? [])]),
    },
    {
        key: "regions",
        print: () => {
            const { key, isDown } = regionOrder.value;
            const order = key === "exclusive_ns" && isDown ? "" : `${key}${isDown ? "-" : ""}`;
            const text = regionFilter.value;
            return order || text ? `${order}:${text}` : null;
        },
        read: (text) => {
            const [, key, down, filter] = /^([a-z_]*)(-?):(.*)$/s.exec(text ?? "") ?? [];
            regionOrder.value = key
                ? { key, isDown: down === "-" }
                : { key: "exclusive_ns", isDown: true };
            regionFilter.value = filter ?? "";
        },
    },
    oneOf("map-order", mapOrder, ["rank", "most"]),
    {
        key: "map",
        print: () => (mapOf.value === "lost" ? null : mapOf.value),
        read: (text) =>
            (mapOf.value = /^(cost|waiting|\d{1,7})$/.test(text ?? "") ? text! : "lost"),
    },
    {
        key: "map-ranks",
        print: () => mapRanks.value || null,
        read: (text) => (mapRanks.value = text ?? ""),
    },
    number("depth", depthLimit as Signal<number | null>, 1, 64),
    number("above", whyThreshold as Signal<number | null>, 0, 100),
    {
        key: "list",
        print: () => printFilter(filter.value),
        read: (text) => (filter.value = readFilter(text)),
    },
    ...liveFields,
    ...comparedFields,
];

/* The lasso needs the number of executions to be checked against: it is read when they are there. */
const lassoField: Field = {
    key: "lasso",
    print: () =>
        lassoed.value && lassoed.value.length <= mostTreesInLink
            ? packTrees(lassoed.value)
            : null,
    read: (text) => {
        const n = executions.value?.n ?? 0;
        lassoed.value = text ? unpackTrees(text, n) : null;
    },
};

let lassoInUrl: string | null = null;

function read(): void {
    readState(fields, location.hash);
    lassoInUrl = new URLSearchParams(location.hash.slice(1)).get("lasso");
    if (executions.value) restoreLasso();
}

export function restoreLasso(): void {
    lassoField.read(lassoInUrl);
    lassoInUrl = null;
}

function put(hash: string, how: "pushState" | "replaceState"): void {
    if (hash === location.hash.slice(1)) return;
    history[how](null, "", hash ? `#${hash}` : location.pathname + location.search);
}

/* What a person moves changes the URL many times a second, which browsers are slow at and forbid in
   the end: it is written when it rests. */
let pending: string | null = null;
let windowInUrl:
    string | undefined; /* of the timeline: Back undoes a zoom before it leaves the execution */
let timer = 0;
function writePending(): void {
    clearTimeout(timer);
    const isZoom = timeWindow.value?.join() !== windowInUrl;
    if (pending !== null) put(pending, isZoom ? "pushState" : "replaceState");
    windowInUrl = timeWindow.value?.join();
    pending = null;
}

export function keepUrl(): void {
    read();
    windowInUrl = timeWindow.value?.join();
    let tree = selected.value;
    effect(() => {
        const state = printState([...fields, lassoField]);
        const hash = state + (lassoInUrl ? `${state ? "&" : ""}lasso=${lassoInUrl}` : "");
        const steps = [isLiveStep(), isComparedStep()]; /* each looks at what it was */
        const isStep = (selected.value !== tree && tree !== null) || steps.includes(true);
        tree = selected.value;
        if (isStep) {
            windowInUrl = timeWindow.value?.join();
            writePending();
            return put(hash, "pushState");
        }
        pending = hash;
        clearTimeout(timer);
        timer = window.setTimeout(writePending, restMs);
    });
    addEventListener("popstate", () => {
        clearTimeout(timer);
        pending = null;
        read();
        tree = selected.value;
        windowInUrl = timeWindow.value?.join();
    });
}
