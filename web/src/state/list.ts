// The list on the left: its entries for the filter of now, as many as were asked for, and going along it.
import { computed, effect, signal, untracked } from "@preact/signals";
import { getJson } from "../api/http";
import { CandidatePage, CausePage, Foi, GroupPage, IncidentPage, Shown } from "../api/types";
import { blameOf, slowRank } from "../format/blame";
import { Table } from "../format/csv";
import { goOn } from "./acts";
import { select } from "./actions";
import {
    Entry,
    entryOfCandidate,
    entryOfCause,
    entryOfGroup,
    entryOfIncident,
    tableOfEntries,
    treeBeside,
} from "./entries";
import { filterQuery, isNarrowed, Filter, printFilter, withoutFilter } from "./filter";
import { middleBeside } from "./peers";
import { queryOf } from "./query";
import {
    Details,
    details,
    filter,
    foi,
    labelsVersion,
    notice,
    scoresVersion,
    selected,
} from "./store";

export const pageSize = 50;
const mostListed = 1000; /* that the server gives at once */

/* A part of the list, as the server has it; or all of it that is shown. */
export interface Page {
    what: "cause" | "incident" | "group" | "execution";
    total: number;
    entries: Entry[];
}

async function getPage(
    of: Filter,
    offset: number,
    limit: number,
    abort?: AbortSignal,
): Promise<Page> {
    const path = `/fois/${foi.peek()?.id}/${filterQuery(of, offset, limit)}`;
    if (of.order === "causes") {
        const { total, items } = await getJson<CausePage>(path, abort);
        return { what: "cause", total, entries: items.map(entryOfCause) };
    }
    if (of.order === "incidents") {
        const { total, items } = await getJson<IncidentPage>(path, abort);
        return { what: "incident", total, entries: items.map(entryOfIncident) };
    }
    if (of.order === "groups") {
        const { total, items } = await getJson<GroupPage>(path, abort);
        return { what: "group", total, entries: items.map(entryOfGroup) };
    }
    const { total, items } = await getJson<CandidatePage>(path, abort);
    return { what: "execution", total, entries: items.map(entryOfCandidate) };
}

/* Those behind `known`, until there are `n` of them or no more. */
async function getEntries(
    of: Filter,
    known: Page | null,
    n: number,
    abort?: AbortSignal,
): Promise<Page> {
    const isAtOnce = of.order === "next"; /* questions have no offset */
    const all = known && !isAtOnce ? [...known.entries] : [];
    for (;;) {
        const limit = Math.min(n - all.length, mostListed);
        const page = await getPage(of, all.length, limit, abort);
        all.push(...page.entries);
        if (isAtOnce || !page.entries.length || all.length >= Math.min(n, page.total))
            return { ...page, entries: all };
    }
}

const wanted = signal({ of: "", n: pageSize }); /* of which list, how many entries */
const listName = () => `${foi.value?.id}?${printFilter(filter.value)}`;

/* A label must not move what is being looked at: only a filter by label asks again for one. */
function version(): string {
    const { label, order } = filter.value;
    return `${scoresVersion.value}/${label || order === "next" ? labelsVersion.value : 0}`;
}

let came: { version: string; page: Page } | null = null;
export const listQuery = queryOf<Page & { of: string }>(() => {
    if (foi.value === null) return null;
    const [name, of] = [listName(), filter.value];
    const n = wanted.value.of === name ? wanted.value.n : pageSize;
    const now = `${name} ${version()}`;
    return {
        about: name,
        version: `${version()} ${n}`,
        ask: async (abort) => {
            const known = came?.version === now ? came.page : null;
            const page = { ...(await getEntries(of, known, n, abort)), of: name };
            came = { version: now, page };
            return page;
        },
    };
});

const noEntries: Entry[] = [];
export const entries = computed<Entry[]>(
    () => listQuery.answer.value.value?.entries ?? noEntries,
);

export function showMore(): void {
    wanted.value = { of: listName(), n: entries.value.length + pageSize };
}

/* Whether there are more of the list than are here. */
export const hasMore = computed(() => {
    const page = listQuery.answer.value.value;
    return page !== null && page.entries.length < page.total;
});

/* What is to be selected next, or before, once that is known. */
async function stepTo(by: 1 | -1): Promise<number | null> {
    await listQuery.settled();
    const tree = treeBeside(entries.value, selected.value, by);
    if (tree !== null || by < 0 || !hasMore.value) return tree;
    showMore();
    await listQuery.settled();
    return treeBeside(entries.value, selected.value, by);
}

/* The next entry of the list, or the one before. Where it is not here yet, it waits for it. */
export function selectStep(by: 1 | -1): void {
    const isHere = !listQuery.answer.value.isLoading;
    const tree = treeBeside(entries.value, selected.value, by);
    if (isHere && tree !== null) return select(tree);
    goOn(async () => {
        const there = await stepTo(by);
        return there === null ? null : () => select(there);
    });
}

/* All of them, not only those that are shown so far. */
export async function listTable(of: Filter): Promise<Table> {
    return tableOfEntries((await getEntries(of, null, Infinity)).entries);
}

/* What labels or scores took the last entry from is no filter to be left alone with: all are shown again. */
export function leaveEmptyFilter(): void {
    let before = { of: "", total: 0 };
    effect(() => {
        const { value, isLoading } = listQuery.answer.value;
        if (!value) return;
        const isEmptied =
            !isLoading && before.of === value.of && before.total > 0 && !value.total;
        if (!isLoading || value.total) before = value; /* what is asked anew was seen, too */
        untracked(() => {
            if (!isEmptied || !isNarrowed(filter.value)) return;
            filter.value = withoutFilter(filter.value);
            notice.value = {
                text: "No execution passes the filter of the list any more: all are shown.",
                isError: false,
            };
        });
    });
}

const mostTried = 3;

/* An execution that waits for a rank that is slow in every one: in the middle of the run, on a rank near to it. Null: there is
   none among those that are looked at. */
async function waitingFor(rank: number, of: Foi, more: Details): Promise<number | null> {
    for (const tree of middleBeside(more, rank).slice(0, mostTried)) {
        const it = await getJson<Shown>(`/fois/${of.id}/executions/${tree}`);
        if (blameOf(it, of.outcome) === "slow") return tree;
    }
    return null;
}

/* What shows best what the first line says: of who is slow again and again, and costs more than all anomalies, who waits for it;
   else the first of the list. Not as a person does it: what a link says of the timeline holds. */
export function selectFirst(): void {
    let asked: number | null = null;
    effect(() => {
        const [first, of, more] = [entries.value[0], foi.value, details.value];
        untracked(() => {
            if (selected.value !== null || !first || !of || asked === of.id) return;
            const take = (tree: number | null) => {
                asked = null;
                if (selected.value === null && foi.value?.id === of.id)
                    selected.value = tree ?? first.trees[0];
            };
            const slow = of.outcome.slow?.is_first ? slowRank(of.outcome) : null;
            if (slow === null || isNarrowed(filter.value)) return take(null);
            if (!more) return; /* soon */
            asked = of.id;
            waitingFor(slow, of, more).then(take, () => take(null));
        });
    });
}
