// What all views are of: a time, a rank, a node, a function, a kind of reason, a verdict, a label; and the order of the list.
// As text for a link, and as parameters for the server, which alone says what passes.
import { Label, Location, ReasonKind, reasonKinds, Verdict } from "../api/types";

export const orders = ["causes", "incidents", "groups", "score", "next"] as const;

export interface Filter {
    rank: number | null;
    verdict: "" | Verdict | "changed" /* by labels; of executions, not of incidents */;
    label: "" | Label | "none";
    time: [number, number] | null /* executions with a part in it, ns; null: all */;
    kind: "" | ReasonKind /* why it is strange */;
    node: string /* "": all */;
    function: string /* that took longer, or is called otherwise; "": any */;
    order: (typeof orders)[number];
}

/* What can be taken away by itself. */
export type Condition = Exclude<keyof Filter, "order">;

export const firstFilter: Filter = {
    rank: null,
    verdict: "",
    label: "",
    time: null,
    kind: "",
    node: "",
    function: "",
    order: "causes",
};

const conditions = Object.keys(firstFilter).filter((key) => key !== "order") as Condition[];

/* Those that are set, in one order. */
export function conditionsOf(filter: Filter): Condition[] {
    return conditions.filter((key) => filter[key] !== firstFilter[key]);
}

function known<T extends string>(of: readonly T[], text: string, otherwise: T): T {
    return of.includes(text as T) ? (text as T) : otherwise;
}

/* Null for what is shown at first. Names of others may have any letters. */
export function printFilter(filter: Filter): string | null {
    const { rank, verdict, label, time, kind, node, order } = filter;
    const said = [rank ?? "", verdict, label, order === firstFilter.order ? "" : order];
    const more = [
        time ? time.map(Math.round).join("-") : "",
        kind,
        encodeURIComponent(node),
        encodeURIComponent(filter.function),
    ];
    while (more.length && !more[more.length - 1]) more.pop();
    const text = [...said, ...more];
    return text.join("") ? text.join(":") : null;
}

function readTime(text: string): [number, number] | null {
    const [, begin, end] = /^(\d{1,18})-(\d{1,18})$/.exec(text) ?? [];
    return Number(end) > Number(begin) ? [Number(begin), Number(end)] : null;
}

function readName(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return "";
    }
}

export function readFilter(text: string | null): Filter {
    const said = (text ?? "").split(":");
    const [rank = "", verdict = "", label = "", order = ""] = said;
    const [time = "", kind = "", node = "", name = ""] = said.slice(4);
    return {
        rank: /^\d{1,9}$/.test(rank) ? Number(rank) : null,
        verdict: known(["", "anomaly", "normal", "changed"], verdict, ""),
        label: known(["", "abnormal", "normal", "none"], label, ""),
        time: readTime(time),
        kind: known(["", ...reasonKinds], kind, ""),
        node: readName(node),
        function: readName(name),
        order: known(orders, order, firstFilter.order),
    };
}

export function isNarrowed(filter: Filter): boolean {
    return conditionsOf(filter).length > 0;
}

/* What says more than where and when: which executions. */
const ofExecutions = ["verdict", "label", "kind", "function"] as const;

export function choosesExecutions(filter: Filter): boolean {
    return ofExecutions.some((condition) => filter[condition] !== "");
}

/* The same without these: where and when. */
export function ofPlaces(filter: Filter): Filter {
    return ofExecutions.reduce<Filter>(without, filter);
}

/* The same with one condition less. */
export function without(filter: Filter, condition: Condition): Filter {
    return { ...filter, [condition]: firstFilter[condition] };
}

/* All there is, in the order that it was in. */
export function withoutFilter({ verdict, order }: Filter): Filter {
    return { ...firstFilter, order: verdict === "changed" ? firstFilter.order : order };
}

/* Executions whose verdict labels changed, the strangest now first. */
export const changedFilter: Filter = { ...firstFilter, verdict: "changed", order: "score" };

/* Incidents and groups are not asked for what changed. */
export function withPart(filter: Filter, part: Partial<Filter>): Filter {
    const next = { ...filter, ...part };
    const isOfOne = next.order === "score" || next.order === "next";
    if (next.verdict !== "changed" || isOfOne) return next;
    return part.order ? { ...next, verdict: "" } : { ...next, order: "score" };
}

/* What every route that takes the filter is asked with. */
export function filterParameters(filter: Filter): URLSearchParams {
    const { rank, verdict, label, time, kind, node, function: name } = filter;
    const params = new URLSearchParams();
    if (rank !== null) params.set("rank", String(rank));
    if (verdict) params.set("verdict", verdict);
    if (label) params.set("label", label);
    if (time) {
        params.set("begin", String(Math.floor(time[0])));
        params.set("end", String(Math.ceil(time[1])));
    }
    if (kind) params.set("kind", kind);
    if (node) params.set("node", node);
    if (name) params.set("function", name);
    return params;
}

/* What to ask of a function of interest for a part of the list. */
export function filterQuery(filter: Filter, offset: number, limit: number): string {
    const { order } = filter;
    const params = new URLSearchParams({ offset: String(offset), limit: String(limit) });
    const isOfMany = order !== "score" && order !== "next";
    if (!isOfMany) params.set("order", order);
    for (const [key, value] of filterParameters(filter)) params.set(key, value);
    return `${isOfMany ? order : "candidates"}?${params}`;
}

/* The incidents of a group of them, as far as they are in the list. */
export function groupQuery(
    filter: Filter,
    group: number,
    verdict: Verdict,
    limit: number,
): string {
    return `${filterQuery({ ...filter, verdict, order: "incidents" }, 0, limit)}&group=${group}`;
}

/* The lanes of its rank and node. */
export function lanesIn({ rank, node }: Filter, all: Location[]): number[] {
    return all
        .filter((l) => (rank === null || l.rank === rank) && (!node || l.node === node))
        .map(({ id }) => id);
}
