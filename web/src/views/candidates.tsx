// The list on the left: disturbances, those that lost most first, or executions, the strangest or
// those best to label first. 50 are fetched at a time.
import { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getJson } from "../api/http";
import { CandidatePage, IncidentPage } from "../api/types";
import { Table } from "../format/csv";
import { plural } from "../format/units";
import { Entry, entryOfCandidate, entryOfIncident, tableOfEntries } from "../state/entries";
import {
    filterQuery,
    firstFilter,
    isNarrowed,
    ListFilter,
    printFilter,
    withPart,
} from "../state/list_filter";
import { Resource, useResource } from "../state/resource";
import {
    entries,
    filter,
    foi,
    labelsVersion,
    notice,
    run,
    scoresVersion,
    selected,
} from "../state/store";
import { CandidateItem } from "./candidate_item";
import { IncidentItem } from "./incident_item";
import { Await, Empty } from "./panel";
import { useTable } from "./pictures";
import { useOneStop } from "./use_one_stop";

const pageSize = 50;
const mostChoices = 64; /* in a list; of more ranks one is typed */

function Filters() {
    const now = filter.value;
    const set = (part: Partial<ListFilter>) => (filter.value = withPart(now, part));
    const ranks = [...new Set(run.value?.locations.map((l) => l.rank))].sort((a, b) => a - b);
    const isAsking = now.order === "next"; /* what to label next takes no filter */
    const choice = (
        name: string,
        value: string,
        options: [string, string][],
        take: (value: string) => void,
    ) => (
        <select
            aria-label={name}
            value={value}
            disabled={isAsking && name !== "Order"}
            title={isAsking && name !== "Order" ? "Questions are about all executions" : ""}
            onChange={(event) => take(event.currentTarget.value)}
        >
            {options.map(([key, text]) => (
                <option value={key}>{text}</option>
            ))}
        </select>
    );
    return (
        <div class="filters">
            {choice(
                "Order",
                now.order,
                [
                    ["incidents", "Disturbances"],
                    ["score", "Strangest first"],
                    ["next", "Best to label next"],
                ],
                (order) => set({ order: order as ListFilter["order"] }),
            )}
            {ranks.length > mostChoices ? (
                <input
                    type="number"
                    min="0"
                    aria-label="Rank"
                    placeholder="All ranks"
                    value={now.rank ?? ""}
                    disabled={isAsking}
                    onChange={(e) =>
                        set({
                            rank:
                                e.currentTarget.value === ""
                                    ? null
                                    : Number(e.currentTarget.value),
                        })
                    }
                />
            ) : (
                choice(
                    "Rank",
                    String(now.rank ?? ""),
                    [
                        ["", "All ranks"],
                        ...ranks.map((r): [string, string] => [String(r), `Rank ${r}`]),
                    ],
                    (rank) => set({ rank: rank === "" ? null : Number(rank) }),
                )
            )}
            {choice(
                "Verdict",
                now.verdict,
                [
                    ["", "All verdicts"],
                    ["anomaly", "Anomalies"],
                    ["normal", "Normal ones"],
                    ["changed", "Changed by labels"],
                ],
                (verdict) => set({ verdict: verdict as ListFilter["verdict"] }),
            )}
            {choice(
                "Label",
                now.label,
                [
                    ["", "Any label"],
                    ["none", "Not labelled"],
                    ["abnormal", "Abnormal"],
                    ["normal", "Normal"],
                ],
                (label) => set({ label: label as ListFilter["label"] }),
            )}
        </div>
    );
}

/* A part of the list, as the server has it. */
interface Page {
    what: "disturbance" | "execution";
    total: number;
    entries: Entry[];
}

async function getPage(
    of: ListFilter,
    offset: number,
    limit: number,
    abort?: AbortSignal,
): Promise<Page> {
    const path = `/fois/${foi.value?.id}/${filterQuery(of, offset, limit)}`;
    if (of.order === "incidents") {
        const { total, items } = await getJson<IncidentPage>(path, abort);
        return { what: "disturbance", total, entries: items.map(entryOfIncident) };
    }
    const { total, items } = await getJson<CandidatePage>(path, abort);
    return { what: "execution", total, entries: items.map(entryOfCandidate) };
}

interface List {
    page: Resource<Page>;
    listed: Entry[];
    isLoadingMore: boolean;
    showMore: () => void;
}

/* The list for the filter of now. More of it is fetched and put behind what there is; when the
   ranking changes, as many as were shown are fetched anew. */
function useList(): List {
    const id = foi.value?.id;
    const of = filter.value;
    const what = printFilter(of);
    // A label must not move what is being looked at: only a filter by label asks again for one.
    const version = `${scoresVersion.value}/${of.label || of.order === "next" ? labelsVersion.value : 0}`;
    const shown = useRef({ what, n: pageSize });
    if (shown.current.what !== what) shown.current = { what, n: pageSize };
    const page = useResource<Page>(
        id === undefined ? null : `${id}?${what}#${version}`,
        (abort) => getPage(of, 0, shown.current.n, abort),
        true,
    );
    const [more, setMore] = useState<{ of: Page; entries: Entry[] } | null>(null);
    const [isLoadingMore, setLoading] = useState(false);
    const first = page.value;
    const behind = more && more.of === first ? more.entries : [];
    const listed = useMemo(() => [...(first?.entries ?? []), ...behind], [first, more]);
    const showMore = async () => {
        setLoading(true);
        try {
            const next = await getPage(of, listed.length, pageSize);
            shown.current.n = listed.length + next.entries.length;
            if (first) setMore({ of: first, entries: [...behind, ...next.entries] });
        } catch (error) {
            notice.value = {
                text: `No more of the list: ${(error as Error).message}.`,
                isError: true,
            };
        } finally {
            setLoading(false);
        }
    };
    return { page, listed, isLoadingMore, showMore };
}

function NothingStandsOut() {
    if (foi.value?.anomalies || isNarrowed(filter.value)) return null;
    return (
        <p class="note">
            <b>No execution stands out.</b> These are the least usual ones; label what should
            not be like that, and retrain.
        </p>
    );
}

function Item({ of }: { of: Entry }) {
    const { incident, candidate, trees } = of;
    if (incident) return <IncidentItem of={incident} trees={trees} />;
    return candidate ? <CandidateItem of={candidate} /> : null;
}

function NothingLikeThat({ what }: { what: Page["what"] }) {
    return (
        <Empty>
            <p>No {what} is like that.</p>
            {isNarrowed(filter.value) && (
                <button
                    onClick={() =>
                        (filter.value = { ...firstFilter, order: filter.value.order })
                    }
                >
                    Show all
                </button>
            )}
        </Empty>
    );
}

function Entries(props: Omit<List, "page"> & { total: number }) {
    const { listed, total, isLoadingMore, showMore } = props;
    const list = useRef<HTMLOListElement>(null);
    useOneStop(list);
    return (
        <ol ref={list} id="list">
            {listed.map((entry) => (
                <Item key={entry.trees[0]} of={entry} />
            ))}
            {listed.length < total && (
                <li class="more">
                    <button disabled={isLoadingMore} onClick={showMore}>
                        {isLoadingMore
                            ? "Loading ..."
                            : `Show ${Math.min(pageSize, total - listed.length)} more`}
                    </button>
                </li>
            )}
        </ol>
    );
}

const mostListed = 1000; /* that the server gives at once */

/* All of them, not only those that are shown so far. */
async function listTable(of: ListFilter): Promise<Table> {
    const all: Entry[] = [];
    for (;;) {
        const { total, entries } = await getPage(of, all.length, mostListed);
        all.push(...entries);
        const isAll = of.order === "next" || !entries.length; /* questions come at once */
        if (isAll || all.length >= total) return tableOfEntries(all);
    }
}

/* children: what stands behind the list. */
export function Candidates(props: { children?: ComponentChildren }) {
    const { page, listed, isLoadingMore, showMore } = useList();
    useTable("list", () => listTable(filter.value));
    useEffect(() => {
        if (!page.value) return;
        entries.value = listed;
        // Not as a person does it: what a link says of the timeline holds.
        if (selected.value === null && listed.length) selected.value = listed[0].trees[0];
    }, [listed]);
    return (
        <nav class="candidates" id="candidates" aria-label="Candidates">
            <h2>
                Candidates{" "}
                {page.value && <small>{plural(page.value.total, page.value.what)}</small>}
            </h2>
            <Filters />
            <NothingStandsOut />
            <Await of={page} what="candidates" empty="No run.">
                {({ total, what }) =>
                    listed.length ? (
                        <Entries {...{ listed, total, isLoadingMore, showMore }} />
                    ) : (
                        <NothingLikeThat what={what} />
                    )
                }
            </Await>
            {props.children}
        </nav>
    );
}
