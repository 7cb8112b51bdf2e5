// What the list on the left shows: in which order, and which of it. As text for a link, and as a
// query for the server.
import { Label, Verdict } from "../api/types";

export const orders = ["causes", "incidents", "groups", "score", "next"] as const;

export interface ListFilter {
    rank: number | null;
    verdict: "" | Verdict | "changed" /* by labels; of executions, not of incidents */;
    label: "" | Label | "none";
    order: (typeof orders)[number];
}

export const firstFilter: ListFilter = {
    rank: null,
    verdict: "",
    label: "",
    order: "causes",
};

function known<T extends string>(of: readonly T[], text: string, otherwise: T): T {
    return of.includes(text as T) ? (text as T) : otherwise;
}

/* Null for what is shown at first. */
export function printFilter({ rank, verdict, label, order }: ListFilter): string | null {
    const text = [rank ?? "", verdict, label, order === firstFilter.order ? "" : order];
    return text.join("") ? text.join(":") : null;
}

export function readFilter(text: string | null): ListFilter {
    const [rank = "", verdict = "", label = "", order = ""] = (text ?? "").split(":");
    return {
        rank: /^\d{1,9}$/.test(rank) ? Number(rank) : null,
        verdict: known(["", "anomaly", "normal", "changed"], verdict, ""),
        label: known(["", "abnormal", "normal", "none"], label, ""),
        order: known(orders, order, firstFilter.order),
    };
}

export function isNarrowed({ rank, verdict, label }: ListFilter): boolean {
    return rank !== null || verdict !== "" || label !== "";
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
    const { rank, verdict, label, order } = filter;
    const params = new URLSearchParams({ offset: String(offset), limit: String(limit) });
    const isOfMany = order !== "score" && order !== "next";
    if (!isOfMany) params.set("order", order);
    if (rank !== null) params.set("rank", String(rank));
    if (verdict) params.set("verdict", verdict);
    if (label) params.set("label", label);
    return `${isOfMany ? order : "candidates"}?${params}`;
}

/* The incidents of a group of them, as far as they are in the list. */
export function groupQuery(
    { rank, label }: ListFilter,
    group: number,
    verdict: Verdict,
    limit: number,
): string {
    return `${filterQuery({ rank, label, verdict, order: "incidents" }, 0, limit)}&group=${group}`;
}
