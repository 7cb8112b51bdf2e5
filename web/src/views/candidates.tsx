// The list on the left: disturbances, those that lost most first, or executions, the strangest or
// those best to label first. 50 are fetched at a time.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getJson } from "../api/http";
import { CandidatePage, IncidentPage } from "../api/types";
import { plural } from "../format/units";
import { select } from "../state/actions";
import { Entry, entryOfCandidate, entryOfIncident } from "../state/entries";
import {
    filterQuery,
    firstFilter,
    isNarrowed,
    ListFilter,
    printFilter,
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

const pageSize = 50;

function Filters() {
    const now = filter.value;
    const set = (part: Partial<ListFilter>) => (filter.value = { ...now, ...part });
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
            {choice(
                "Rank",
                String(now.rank ?? ""),
                [
                    ["", "All ranks"],
                    ...ranks.map((r): [string, string] => [String(r), `Rank ${r}`]),
                ],
                (rank) => set({ rank: rank === "" ? null : Number(rank) }),
            )}
            {choice(
                "Verdict",
                now.verdict,
                [
                    ["", "All verdicts"],
                    ["anomaly", "Anomalies"],
                    ["normal", "Normal ones"],
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

export function Candidates() {
    const { page, listed, isLoadingMore, showMore } = useList();
    useEffect(() => {
        if (!page.value) return;
        entries.value = listed;
        if (selected.value === null && listed.length) select(listed[0].trees[0]);
    }, [listed]);
    return (
        <nav class="candidates" aria-label="Candidates">
            <h2>
                Candidates{" "}
                {page.value && <small>{plural(page.value.total, page.value.what)}</small>}
            </h2>
            <Filters />
            <NothingStandsOut />
            <Await of={page} what="candidates" empty="No run.">
                {({ total, what }) =>
                    listed.length ? (
                        <ol>
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
                    ) : (
                        <NothingLikeThat what={what} />
                    )
                }
            </Await>
        </nav>
    );
}
