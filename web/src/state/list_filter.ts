// What the list on the left shows: in which order, and which of it. As text for a link, and as a
// query for the server.
import { Label, Verdict } from "../api/types";

export const orders = ["causes", "incidents", "groups", "score", "next"] as const;

export interface ListFilter {
    rank: number | null;
    verdict: "" | Verdict | "changed" /* by labels; of executions, not of incidents */;
    label: "" | Label | "none";
    time: [number, number] | null /* executions with a part in it, ns; null: all */;
    order: (typeof orders)[number];
}

export const firstFilter: ListFilter = {
    rank: null,
    verdict: "",
    label: "",
    time: null,
    order: "causes",
};

function known<T extends string>(of: readonly T[], text: string, otherwise: T): T {
    return of.includes(text as T) ? (text as T) : otherwise;
}

/* Null for what is shown at first. */
export function printFilter({ rank, verdict, label, time, order }: ListFilter): string | null {
    const text = [rank ?? "", verdict, label, order === firstFilter.order ? "" : order];
    if (time) text.push(time.map(Math.round).join("-"));
    return text.join("") ? text.join(":") : null;
}

function readTime(text: string): [number, number] | null {
    const [, begin, end] = /^(\d{1,18})-(\d{1,18})$/.exec(text) ?? [];
    return Number(end) > Number(begin) ? [Number(begin), Number(end)] : null;
}

export function readFilter(text: string | null): ListFilter {
    const [rank = "", verdict = "", label = "", order = "", time = ""] = (text ?? "").split(
        ":",
    );
    return {
        rank: /^\d{1,9}$/.test(rank) ? Number(rank) : null,
        verdict: known(["", "anomaly", "normal", "changed"], verdict, ""),
        label: known(["", "abnormal", "normal", "none"], label, ""),
        time: readTime(time),
        order: known(orders, order, firstFilter.order),
    };
}

export function isNarrowed({ rank, verdict, label, time }: ListFilter): boolean {
    return rank !== null || verdict !== "" || label !== "" || time !== null;
}

/* All there is, in the order that it was in. */
export function withoutFilter({ verdict, order }: ListFilter): ListFilter {
    return { ...firstFilter, order: verdict === "changed" ? firstFilter.order : order };
}

interface Listed {
    enter_ns: ArrayLike<number>;
    duration_ns: ArrayLike<number>;
    verdict: ArrayLike<number>;
    label: ArrayLike<number>;
    rank?: ArrayLike<number>; /* not here yet: all are taken for what is asked for */
}
const labelCodes = { abnormal: 1, normal: -1, none: 0 };

/* Which executions pass; null: all of them do. What labels changed is known to the server alone. */
export function passing(
    { rank, verdict, label, time }: ListFilter,
    of: Listed,
): ((tree: number) => boolean) | null {
    const tests: ((tree: number) => boolean)[] = [];
    const ranks = of.rank;
    if (rank !== null && ranks) tests.push((t) => ranks[t] === rank);
    if (verdict === "anomaly" || verdict === "normal")
        tests.push((t) => of.verdict[t] === (verdict === "anomaly" ? 1 : 0));
    if (label) tests.push((t) => of.label[t] === labelCodes[label]);
    if (time)
        tests.push(
            (t) =>
                of.enter_ns[t] < time[1] &&
                (of.enter_ns[t] >= time[0] || of.enter_ns[t] + of.duration_ns[t] > time[0]),
        );
    return tests.length ? (tree) => tests.every((test) => test(tree)) : null;
}

/* Executions whose verdict labels changed, the strangest now first. */
export const changedFilter: ListFilter = { ...firstFilter, verdict: "changed", order: "score" };

/* Incidents and groups are not asked for what changed. */
export function withPart(filter: ListFilter, part: Partial<ListFilter>): ListFilter {
    const next = { ...filter, ...part };
    const isOfOne = next.order === "score" || next.order === "next";
    if (next.verdict !== "changed" || isOfOne) return next;
    return part.order ? { ...next, verdict: "" } : { ...next, order: "score" };
}

/* What to ask of a function of interest for a part of the list. */
export function filterQuery(filter: ListFilter, offset: number, limit: number): string {
    const { rank, verdict, label, time, order } = filter;
    const params = new URLSearchParams({ offset: String(offset), limit: String(limit) });
    const isOfMany = order !== "score" && order !== "next";
    if (!isOfMany) params.set("order", order);
    if (rank !== null) params.set("rank", String(rank));
    if (verdict) params.set("verdict", verdict);
    if (label) params.set("label", label);
    if (time) {
        params.set("begin", String(Math.floor(time[0])));
        params.set("end", String(Math.ceil(time[1])));
    }
    return `${isOfMany ? order : "candidates"}?${params}`;
}

/* The incidents of a group of them, as far as they are in the list. */
export function groupQuery(
    { rank, label, time }: ListFilter,
    group: number,
    verdict: Verdict,
    limit: number,
): string {
    return `${filterQuery({ rank, label, verdict, time, order: "incidents" }, 0, limit)}&group=${group}`;
}
