// What all views are of: the order of the list, choices that open below it, and a chip for each condition, which takes it away.
import { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ReasonKind } from "../api/types";
import { upper } from "../format/origin";
import { formatCount, formatTime, plural } from "../format/units";
import {
    Condition,
    conditionsOf,
    Filter,
    without,
    withoutFilter,
    withPart,
} from "../state/filter";
import {
    choicesQuery,
    isFiltered,
    isFilterOpen,
    nodes,
    passingQuery,
    wantsFilter,
} from "../state/filtered";
import { runKeys } from "../state/keys";
import { ranksOfRun } from "../state/places";
import { executions, filter } from "../state/store";
import { Choice } from "./live_panel";

const mostChoices = 64; /* in a list; of more ranks one is typed */

const kindWords: Record<ReasonKind, string> = {
    work: "a function takes longer",
    mpi: "MPI takes longer",
    barrier: "barriers take longer",
    all: "all calls take longer",
    less: "it takes less",
    calls: "other calls",
    open: "it does not end",
};
const verdictWords: Record<string, string> = {
    anomaly: "Anomalies",
    normal: "Normal ones",
    changed: "Changed by labels",
};
const labelWords: Record<string, string> = {
    none: "Not labelled",
    abnormal: "Labelled abnormal",
    normal: "Labelled normal",
};

function set(part: Partial<Filter>): void {
    filter.value = withPart(filter.value, part);
}

type Option = [string, string];

function RankChoice() {
    const { rank } = filter.value;
    const ranks = [...ranksOfRun.value.keys()].sort((a, b) => a - b);
    const take = (said: string) => set({ rank: said === "" ? null : Number(said) });
    if (ranks.length > mostChoices)
        return (
            <input
                type="number"
                min="0"
                aria-label="Rank"
                placeholder="All ranks"
                value={rank ?? ""}
                onInput={(e) => take(e.currentTarget.value)}
            />
        );
    return (
        <Choice
            label="Rank"
            value={String(rank ?? "")}
            options={[["", "All ranks"], ...ranks.map((r): Option => [String(r), `Rank ${r}`])]}
            choose={take}
        />
    );
}

/* What is chosen is among the options, even where a link names what the run does not have. */
function withChosen(options: Option[], chosen: string, text: string): Option[] {
    return options.some(([key]) => key === chosen) ? options : [...options, [chosen, text]];
}

/* Why executions are strange: only what the run has. */
function ReasonChoices() {
    const now = filter.value;
    const choices = choicesQuery.answer.value.value;
    const counted = (name: string, n: number): string => `${name} (${formatCount(n)})`;
    const functions = (choices?.functions ?? []).map((f): Option => [
        f.name,
        counted(f.name, f.executions),
    ]);
    const kinds = (choices?.kinds ?? []).map(({ kind, executions: n }): Option => [
        kind,
        counted(kindWords[kind], n),
    ]);
    return (
        <>
            <Choice
                label="Function"
                value={now.function}
                options={withChosen(
                    [["", "Any function"], ...functions],
                    now.function,
                    now.function,
                )}
                choose={(name) => set({ function: name })}
                title="That took longer or less, or is called more or less often; with how many executions"
            />
            <Choice
                label="Reason"
                value={now.kind}
                options={withChosen(
                    [["", "Any reason"], ...kinds],
                    now.kind,
                    now.kind && kindWords[now.kind],
                )}
                choose={(kind) => set({ kind: kind as Filter["kind"] })}
                title="Why they are strange, in how many executions"
            />
        </>
    );
}

function Choices() {
    const now = filter.value;
    const choices = useRef<HTMLDivElement>(null);
    useEffect(() => {
        if (!wantsFilter.value) return;
        wantsFilter.value = false;
        choices.current!.querySelector("select")!.focus();
    }, [wantsFilter.value]);
    return (
        <div ref={choices} class="filters" id="filter-choices">
            <ReasonChoices />
            <RankChoice />
            {(nodes.value.length > 0 || now.node) && (
                <Choice
                    label="Node"
                    value={now.node}
                    options={withChosen(
                        [["", "All nodes"], ...nodes.value.map((n): Option => [n, n])],
                        now.node,
                        now.node,
                    )}
                    choose={(node) => set({ node })}
                />
            )}
            <Choice
                label="Verdict"
                value={now.verdict}
                options={[["", "All verdicts"], ...Object.entries(verdictWords)]}
                choose={(verdict) => set({ verdict: verdict as Filter["verdict"] })}
            />
            <Choice
                label="Label"
                value={now.label}
                options={[["", "Any label"], ...Object.entries(labelWords)]}
                choose={(label) => set({ label: label as Filter["label"] })}
            />
            <p class="dim">
                A time: Shift and a drag over the strip above the timeline, or its window (
                {runKeys.keyOf("onlyWindow")}).
            </p>
        </div>
    );
}

/* What a chip says, and what its button does. */
const chipWords: Record<Condition, [says: (of: Filter) => string, clears: string]> = {
    time: [({ time }) => time!.map(formatTime).join(" to "), "All times"],
    rank: [({ rank }) => `Rank ${rank}`, "All ranks"],
    node: [({ node }) => `Node ${node}`, "All nodes"],
    function: [(of) => `In ${of.function}`, "Any function"],
    kind: [({ kind }) => kind && upper(kindWords[kind]), "Any reason"],
    verdict: [({ verdict }) => verdictWords[verdict], "All verdicts"],
    label: [({ label }) => labelWords[label], "Any label"],
};

/* Views differ in it, as an execution cannot be cut, and what ran in a time can. */
const timeRule =
    "Executions with a part in it pass, and count whole. Regions cut calls to it; Messages are those that were sent in it.";

function Chip({ of, condition }: { of: Filter; condition: Condition }) {
    const [says, clears] = chipWords[condition];
    return (
        <li class="chip">
            <span title={condition === "time" ? timeRule : says(of)}>{says(of)}</span>
            <button
                class="quiet"
                aria-label={clears}
                title={clears}
                onClick={() => (filter.value = without(filter.value, condition))}
            >
                ✕
            </button>
        </li>
    );
}

/* How much passes; of what is not here yet nothing is said. */
function Passing() {
    const { value, error } = passingQuery.answer.value;
    const all = executions.value?.n;
    if (error) return <span class="dim">not counted: {error}</span>;
    if (!value || all === undefined) return <span class="dim">counting ...</span>;
    return (
        <span class="dim">
            {formatCount(value.total)} of {plural(all, "execution")}
        </span>
    );
}

function Chips() {
    const now = filter.value;
    return (
        <div class="chips" role="group" aria-label="Filter">
            <ul>
                {conditionsOf(now).map((condition) => (
                    <Chip key={condition} of={now} condition={condition} />
                ))}
            </ul>
            <Passing />
            <button
                class="quiet"
                onClick={() => (filter.value = withoutFilter(filter.value))}
                title="Show all executions"
            >
                Clear all
            </button>
        </div>
    );
}

export function Filters() {
    const now = filter.value;
    return (
        <>
            <div class="filters">
                <Choice
                    label="Order"
                    value={now.order}
                    options={[
                        ["causes", "By cause"],
                        ["incidents", "Incidents"],
                        ["groups", "Executions alike"],
                        ["score", "Strangest first"],
                        ["next", "Best to label next"],
                    ]}
                    choose={(order) => set({ order: order as Filter["order"] })}
                />
                <button
                    aria-expanded={isFilterOpen.value}
                    aria-controls="filter-choices"
                    title={`Show a part of the run only, in all views (${runKeys.keyOf("filter")})`}
                    onClick={() => (isFilterOpen.value = !isFilterOpen.value)}
                >
                    Filter <span aria-hidden="true">{isFilterOpen.value ? "▴" : "▾"}</span>
                </button>
            </div>
            {isFilterOpen.value && <Choices />}
            {isFiltered.value && <Chips />}
            {isFiltered.value && now.order === "next" && (
                <NotFiltered>Questions are about all executions.</NotFiltered>
            )}
        </>
    );
}

/* What a view that does not follow the filter says of itself. */
export function NotFiltered(props: { children: ComponentChildren }) {
    if (!isFiltered.value) return null;
    return <p class="not-filtered dim">{props.children}</p>;
}
