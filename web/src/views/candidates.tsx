// The list of candidates: the strangest executions first, each with its small drawing, the reason in
// a sentence, and the buttons to label it. 50 are fetched at a time.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getJson } from "../api/http";
import { Candidate, CandidatePage } from "../api/types";
import { shortId } from "../format/ids";
import { formatCount, formatScore, formatTime, plural } from "../format/units";
import { select } from "../state/actions";
import { Resource, useResource } from "../state/resource";
import {
    CandidateFilter,
    candidateTrees,
    filter,
    foi,
    labelsVersion,
    notice,
    regions,
    run,
    scoresVersion,
    selected,
} from "../state/store";
import { LabelButtons } from "./labels";
import { Await, Empty } from "./panel";
import { Sketch } from "./sketch";

const pageSize = 50;

function query({ rank, verdict, label, order }: CandidateFilter): string {
    const params = new URLSearchParams({ order });
    if (rank !== null) params.set("rank", String(rank));
    if (verdict) params.set("verdict", verdict);
    if (label) params.set("label", label);
    return params.toString();
}

function regionName(id: number): string {
    return regions.value.get(id)?.short_name ?? `region ${id}`;
}

/* How it moved in the ranking since the detector alone judged it. */
function Moved({ of }: { of: Candidate }) {
    const by = of.rank_before - of.rank_now;
    if (!by || !foi.value?.retrain) return null;
    return (
        <span
            class="moved"
            title={`place ${formatCount(of.rank_before)} before the labels were learnt`}
        >
            {by > 0 ? "↑" : "↓"} from {formatCount(of.rank_before)}
        </span>
    );
}

/* Of a question: why it is asked, its kind, and what the answer is worth. */
function asked(question: NonNullable<Candidate["question"]>): string {
    const others = question.moves === null ? "" : `; moves ${formatCount(question.moves)} others`;
    return `${question.asked_as}: ${question.kind}${others}`;
}

function Item({ of }: { of: Candidate }) {
    const isSelected = selected.value === of.tree;
    const item = useRef<HTMLLIElement>(null);
    useEffect(() => {
        if (isSelected) item.current?.scrollIntoView({ block: "nearest" });
    }, [isSelected]);
    return (
        <li ref={item} class={`candidate ${of.verdict}${isSelected ? " selected" : ""}`}>
            <button class="pick" aria-pressed={isSelected} onClick={() => select(of.tree)}>
                <span class="line">
                    <span class="place">{formatCount(of.rank_now)}</span>
                    <b title={of.id}>{shortId(of.id)}</b>
                    <span>{formatTime(of.duration_ns)}</span>
                    <Moved of={of} />
                    <span class="score" title="score: how strange it is">
                        {formatScore(of.score)}
                    </span>
                </span>
                <Sketch bars={of.sketch} name={regionName} />
                <span class="why">{of.why}</span>
                {of.question && <span class="why">{asked(of.question)}</span>}
            </button>
            <LabelButtons tree={of.tree} id={shortId(of.id)} />
        </li>
    );
}

function Filters() {
    const now = filter.value;
    const set = (part: Partial<CandidateFilter>) => (filter.value = { ...now, ...part });
    const ranks = [...new Set(run.value?.locations.map((l) => l.rank))].sort((a, b) => a - b);
    const choice = (
        name: string,
        value: string,
        options: [string, string][],
        take: (value: string) => void,
    ) => (
        <select
            aria-label={name}
            value={value}
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
                    ["score", "Strangest first"],
                    ["next", "Best to label next"],
                ],
                (order) => set({ order: order as CandidateFilter["order"] }),
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
                (verdict) => set({ verdict: verdict as CandidateFilter["verdict"] }),
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
                (label) => set({ label: label as CandidateFilter["label"] }),
            )}
        </div>
    );
}

interface List {
    page: Resource<CandidatePage>;
    items: Candidate[];
    isLoadingMore: boolean;
    showMore: () => void;
}

/* The list for the filter of now. More of it is fetched and put behind what there is; when the
   ranking changes, as many as were shown are fetched anew. */
function useCandidates(): List {
    const id = foi.value?.id;
    const search = query(filter.value);
    // A label must not move what is being looked at: only a filter by label asks again for one.
    const version = `${scoresVersion.value}/${filter.value.label || filter.value.order === "next" ? labelsVersion.value : 0}`;
    const shown = useRef({ search, n: pageSize });
    if (shown.current.search !== search) shown.current = { search, n: pageSize };
    const get = (offset: number, limit: number, abort?: AbortSignal) =>
        getJson<CandidatePage>(
            `/fois/${id}/candidates?offset=${offset}&limit=${limit}&${search}`,
            abort,
        );
    const page = useResource<CandidatePage>(
        id === undefined ? null : `${id}?${search}#${version}`,
        (abort) => get(0, shown.current.n, abort),
        true,
    );
    const [more, setMore] = useState<{ of: CandidatePage; items: Candidate[] } | null>(null);
    const [isLoadingMore, setLoading] = useState(false);
    const first = page.value;
    const behind = more && more.of === first ? more.items : [];
    const items = useMemo(() => [...(first?.items ?? []), ...behind], [first, more]);
    const showMore = async () => {
        setLoading(true);
        try {
            const next = await get(items.length, pageSize);
            shown.current.n = items.length + next.items.length;
            if (first) setMore({ of: first, items: [...behind, ...next.items] });
        } catch (error) {
            notice.value = {
                text: `No more candidates: ${(error as Error).message}.`,
                isError: true,
            };
        } finally {
            setLoading(false);
        }
    };
    return { page, items, isLoadingMore, showMore };
}

function NothingStandsOut() {
    const { rank, verdict, label } = filter.value;
    if (foi.value?.anomalies || rank !== null || verdict || label) return null;
    return (
        <p class="note">
            <b>No execution stands out.</b> These are the least usual ones; label what should
            not be like that, and retrain.
        </p>
    );
}

export function Candidates() {
    const { page, items, isLoadingMore, showMore } = useCandidates();
    useEffect(() => {
        if (!page.value) return;
        candidateTrees.value = items.map((item) => item.tree);
        if (selected.value === null && items.length) select(items[0].tree);
    }, [items]);
    return (
        <nav class="candidates" aria-label="Candidates">
            <h2>
                Candidates{" "}
                {page.value && <small>{plural(page.value.total, "execution")}</small>}
            </h2>
            <Filters />
            <NothingStandsOut />
            <Await of={page} what="candidates" empty="No run.">
                {({ total }) =>
                    items.length ? (
                        <ol>
                            {items.map((item) => (
                                <Item key={item.tree} of={item} />
                            ))}
                            {items.length < total && (
                                <li class="more">
                                    <button disabled={isLoadingMore} onClick={showMore}>
                                        {isLoadingMore
                                            ? "Loading ..."
                                            : `Show ${Math.min(pageSize, total - items.length)} more`}
                                    </button>
                                </li>
                            )}
                        </ol>
                    ) : (
                        <Empty>
                            <p>No execution is like that.</p>
                            <button
                                onClick={() =>
                                    (filter.value = {
                                        rank: null,
                                        verdict: "",
                                        label: "",
                                        order: "score",
                                    })
                                }
                            >
                                Show all
                            </button>
                        </Empty>
                    )
                }
            </Await>
        </nav>
    );
}
