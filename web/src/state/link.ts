// Which signals are in the URL, and keeping the two the same. A new selection, or another
// window of the timeline, is a step in the history of the browser; settings only replace the step they
// belong to.
import { batch, effect } from "@preact/signals";
import { Centre } from "../canvas/centre";
import {
    Area,
    area,
    areaBy,
    areaOrder,
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
    front,
    isStretched,
    lassoed,
    linksShown,
    mark,
    markedCalls,
    measuredFrom,
    openRanks,
    openThreads,
    pinnedRanks,
    placesBy,
    planeName,
    projections,
    mapOf,
    mapOrder,
    mapRanks,
    messageMeasures,
    messagesBy,
    messagesOf,
    regionFilter,
    regionOrder,
    regionsOf,
    run,
    sampling,
    selected,
    shownRanks,
    sqlAsked,
    sqlShows,
    structureKind,
    timeWindow,
    views,
    whyThreshold,
    xAttribute,
    yAttribute,
    zoomed,
} from "./store";
import { measuredBys, placeKinds } from "../api/types";
import { filterParameters, printFilter, readFilter } from "./filter";
import { comparedFields, isComparedStep } from "./compared_link";
import { isLiveStep, liveFields } from "./live_link";
import { firstViewsOf, ViewName, viewNames } from "./views";
import {
    callOf,
    Field,
    field,
    flag,
    folds,
    matching,
    number,
    numbers,
    oneOf,
    orderBy,
    packTrees,
    printState,
    readState,
    signedSpan,
    span,
    TableOrder,
    text,
    Type,
    unpackTrees,
} from "./url";

const mostCallsInLink = 1e6; /* of an execution; what a link says is not believed beyond it */
const restMs = 150;
const mostTreesInLink = 2000; /* ranges of a lasso beyond it would make no usable URL */

const firstViews = () => firstViewsOf(run.value?.locations.length ?? 0);
const viewList: Type<ViewName[]> = {
    print: (names) => names.join(),
    parse: (said) => {
        const known = viewNames.filter((name) => said.split(",").includes(name));
        return known.length ? known : null;
    },
};

const path: Type<string[]> = {
    print: JSON.stringify,
    parse: (said) => {
        try {
            const names = JSON.parse(said);
            return Array.isArray(names) && names.every((v) => typeof v === "string")
                ? names
                : null;
        } catch {
            return null;
        }
    },
};

/* Of as many executions, or calls of one, as there are below `n`. */
function trees(n: () => number): Type<Uint32Array> {
    return {
        print: (rows) => (rows.length <= mostTreesInLink ? packTrees(rows) : null),
        parse: (said) => (said ? unpackTrees(said, n()) : null),
    };
}

const areaOfLanes: Type<Area> = {
    print: ({ begin, end, locations }) => `${span.print([begin, end])}:${locations.join()}`,
    parse: (said) => {
        const [times, lanes = ""] = said.split(":");
        const [time, locations] = [span.parse(times), numbers.parse(lanes)];
        return time && locations && { begin: time[0], end: time[1], locations };
    },
};

const centre: Type<Centre> = {
    print: ({ k, x, y }) => [k, x, y].map((v) => Number(v.toPrecision(6))).join(","),
    parse: (said) => {
        const [k, x, y, ...more] = said.split(",").map(Number);
        const isOne = !more.length && k >= 0.5 && k <= 20000;
        return isOne && Number.isFinite(x) && Number.isFinite(y) ? { k, x, y } : null;
    },
};

/* Their order before ":", what is looked for among them behind it. */
const regionRows = {
    get value(): { order: TableOrder; filter: string } {
        return { order: regionOrder.value, filter: regionFilter.value };
    },
    set value({ order, filter }) {
        regionOrder.value = order;
        regionFilter.value = filter;
    },
};
const firstOrder = regionOrder.value;
const order = orderBy((key) => /^[a-z_]+$/.test(key));
const orderAndFilter: Type<typeof regionRows.value> = {
    print: ({ order: by, filter }) => {
        const said = order.print(by);
        return `${said === order.print(firstOrder) ? "" : said}:${filter}`;
    },
    parse: (said) => {
        const [, by, filter] = /^([a-z_]*-?):(.*)$/s.exec(said) ?? [];
        return by === undefined ? null : { order: order.parse(by) ?? firstOrder, filter };
    },
};

const fields: Field[] = [
    field("foi", foiId, number(0, 1e9)),
    field("tree", selected, number(0, 4e9)),
    field("views", views, viewList, firstViews),
    field("front", front, oneOf(viewNames)),
    field("window", timeWindow, signedSpan) /* of two executions: from their start */,
    field("ranks", shownRanks, numbers),
    field("call", chosenCall, callOf),
    field("collective", chosenCollective, callOf),
    field("from", measuredFrom, callOf),
    field("area", area, areaOfLanes),
    field("area-by", areaBy, oneOf(measuredBys)),
    field("area-order", areaOrder, order),
    field("mark", mark, path),
    field(
        "calls",
        markedCalls,
        trees(() => mostCallsInLink),
    ),
    field("plane", planeName, oneOf([...projections, "attributes"])),
    field("calls-by", callColours, oneOf(["kind", "function", "excess"])),
    field("links", linksShown, oneOf(["all", "messages", "collectives", "launches", "none"])),
    field("counter", counterShown, text),
    field("counter-as", counterAs, oneOf(["meant", "rate", "value"])),
    field("x", xAttribute, oneOf(attributes)),
    field("y", yAttribute, oneOf(attributes)),
    field("colour", colourBy, oneOf(["verdict", "score", "label", "rank", "side"])),
    field("sample", sampling, number(0, 100)),
    field("places", placesBy, oneOf(["", ...placeKinds])),
    field("tree-as", structureKind, oneOf(["icicle", "force"])),
    field("zoom", zoomed, centre),
    field("stretch", isStretched, flag(true, "1")),
    field("open", openRanks, folds),
    field("threads", openThreads, folds),
    field("pinned", pinnedRanks, {
        ...numbers,
        parse: (said) => [...new Set(numbers.parse(said) ?? [])],
    }),
    field("regions", regionRows, orderAndFilter),
    field("map-order", mapOrder, oneOf(["rank", "most"])),
    field("map", mapOf, matching(/^(cost|waiting|\d{1,7})$/)),
    field("map-ranks", mapRanks, text),
    field("regions-of", regionsOf, oneOf(["run", "window", "lanes"])),
    field("messages", messagesBy, oneOf(messageMeasures)),
    field("messages-of", messagesOf, oneOf(["run", "window"])),
    field("sql", sqlAsked, text),
    field("sql-as", sqlShows, oneOf(["table", "chart"])),
    field("depth", depthLimit, number(1, 64)),
    field("above", whyThreshold, number(0, 100)),
    field("list", filter, { print: printFilter, parse: readFilter }),
    ...liveFields,
    ...comparedFields,
];

/* The lasso needs the number of executions to be checked against: it is read when they are there. */
const lassoField = field(
    "lasso",
    lassoed,
    trees(() => executions.value?.n ?? 0),
);

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
let stepInUrl =
    ""; /* the window of the timeline and the filter: Back undoes a zoom, or a condition, before it leaves the
                        execution */
const stepNow = () => `${timeWindow.value?.join()} ${filterParameters(filter.value)}`;
let stepPending = ""; /* that of what is pending */
let timer = 0;
function writePending(): void {
    window.clearTimeout(timer);
    const isStep = stepNow() !== stepInUrl;
    if (pending !== null) put(pending, isStep ? "pushState" : "replaceState");
    stepInUrl = stepNow();
    pending = null;
}

let printed = ""; /* the state as it is */
let isTaken = true; /* it is in the URL, or pending */
let tree: number | null = null;

/* Has something else been chosen since this was asked? Each looks at what it was. */
function isOther(): boolean {
    const are = [selected.value !== tree && tree !== null, isLiveStep(), isComparedStep()];
    tree = selected.value;
    return are.includes(true);
}

/* When all is done that is done at once: what is in between is no state to go back to. */
function take(): void {
    if (isTaken) return;
    isTaken = true;
    const [isStep, step] = [isOther(), stepNow()];
    if (isStep) {
        stepInUrl = step;
        writePending();
        return put(printed, "pushState");
    }
    // Back leads to how it was before the step: what is not written of that yet is written first.
    if (pending !== null && stepPending === stepInUrl && step !== stepInUrl)
        put(pending, "replaceState");
    pending = printed;
    stepPending = step;
    window.clearTimeout(timer);
    timer = window.setTimeout(writePending, restMs);
}

/* What is shown now stands in the URL at once. */
export function writeUrl(): void {
    take();
    if (pending !== null) writePending();
}

export function keepUrl(): void {
    read();
    isOther();
    stepInUrl = stepNow();
    effect(() => {
        const state = printState([...fields, lassoField]);
        printed = state + (lassoInUrl ? `${state ? "&" : ""}lasso=${lassoInUrl}` : "");
        if (isTaken) queueMicrotask(take);
        isTaken = false;
    });
    addEventListener("popstate", () => {
        window.clearTimeout(timer);
        pending = null;
        batch(read);
        isOther(); /* what the browser goes to is no step more */
        stepInUrl = stepNow();
    });
}
