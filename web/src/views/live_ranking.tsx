// Ranks and regions, by a chosen statistic, each with its history.
import { getJson } from "../api/http";
import {
    LiveHistory,
    LiveList,
    LiveRank,
    LiveRegion,
    LiveSlow,
    LiveStat,
} from "../api/live_types";
import { factorWords, verdictWord } from "../format/rank_words";
import { formatCount, formatMean, formatTime, plural } from "../format/units";
import {
    rankChosen,
    regionChosen,
    shown,
    statistic,
    toggleRank,
    toggleRegion,
} from "../state/live";
import { useQuery } from "../state/query";
import { Choice, LivePanel } from "./live_panel";
import { Await } from "./panel";

const of = [
    ["anomalies", "anomalies per step"],
    ["severity_ns", "time lost per anomaly"],
    ["exclusive_ns", "time per call"],
] as const;
const titles: Record<string, string> = {
    anomalies: "anomalies",
    severity_ns: "time lost",
    exclusive_ns: "time",
    calls: "calls",
};
const parts = ["total", "mean", "deviation", "minimum", "maximum", "last", "delta"] as const;
const options: [string, string][] = [
    ...of.flatMap(([plane, title]) =>
        parts.map((part): [string, string] => [`${plane}.${part}`, `${title}: ${part}`]),
    ),
    ["calls", "calls"],
];

type Item = LiveRank | LiveRegion;

function valueOf(item: Item): number | null {
    const [plane, part] = statistic.value.split(".");
    if (plane === "calls") return item.calls;
    return (item[plane as "anomalies"] as LiveStat)[part as "total"];
}

function textOf(item: Item): string {
    const value = valueOf(item);
    if (value === null) return "not known";
    return statistic.value.includes("_ns") ? formatTime(value) : formatMean(value);
}

function partTitle(): string {
    const [plane, part] = statistic.value.split(".");
    return part ? `${titles[plane]}, ${part}` : titles[plane];
}

function Spark({ history }: { history: LiveHistory }) {
    const highest = Math.max(...history.values, 1e-300);
    return (
        <svg
            class={`spark${statistic.value.startsWith("anomalies") ? " strange" : ""}`}
            viewBox="0 0 64 16"
            preserveAspectRatio="none"
            aria-hidden="true"
        >
            {history.values.map((value, i) => (
                <rect
                    x={(i * 64) / history.values.length}
                    width={Math.max(0.5, 60 / history.values.length)}
                    y={16 - (16 * value) / highest}
                    height={(16 * value) / highest}
                />
            ))}
        </svg>
    );
}

function Table<T extends Item>(props: {
    what: "ranks" | "regions";
    nameOf: (item: T) => string;
    choose: (item: T) => void;
    isChosen: (item: T) => boolean;
}) {
    const { what } = props;
    const list = useQuery(
        `${what} ${statistic.value}`,
        (abort) => getJson<LiveList<T>>(`/live/${what}?limit=10&by=${statistic.value}`, abort),
        shown.value,
        true,
    );
    return (
        <Await of={list} what={what} empty="There is nothing yet.">
            {({ items, total }) => (
                <table class="live-table">
                    <caption class="visually-hidden">
                        {what} by {partTitle()}
                    </caption>
                    <thead>
                        <tr>
                            <th>{what === "ranks" ? "Rank" : "Region"}</th>
                            <th>{partTitle()}</th>
                            <th>History of {titles[statistic.value.split(".")[0]]}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {items.map((item) => (
                            <tr>
                                <td>
                                    <button
                                        class="quiet"
                                        aria-pressed={props.isChosen(item)}
                                        onClick={() => props.choose(item)}
                                    >
                                        {props.nameOf(item)}
                                    </button>
                                </td>
                                <td class="number">{textOf(item)}</td>
                                <td>
                                    <Spark history={item.history} />
                                </td>
                            </tr>
                        ))}
                        {total > items.length && (
                            <tr>
                                <td class="dim">
                                    first {items.length} of {formatCount(total)}
                                </td>
                                <td />
                                <td />
                            </tr>
                        )}
                    </tbody>
                </table>
            )}
        </Await>
    );
}

function nameOfRank(r: { rank: number; program: number }): string {
    return r.program ? `rank ${r.rank} of ${r.program}` : `rank ${r.rank}`;
}

/* "compute +9.1 % (1.2 s)", as in the ranks of a run */
function whyOf(item: LiveSlow["items"][0]): string {
    return item.functions
        .map(
            (f) =>
                `${f.short_name} ${factorWords(f.factor, f.kind)} (${formatTime(f.excess_ns)})${f.is_sure ? "" : " perhaps"}`,
        )
        .join(", ");
}

function slowSummary(of: LiveSlow): string {
    if (of.not_known) return `Who is slow is not known, because ${of.not_known}.`;
    const ranks = plural(of.compared, "rank");
    if (of.usual === of.compared) return `${ranks}: none of them is slow.`;
    return `${ranks}: ${of.slow} slow, ${of.imbalanced} imbalanced, ${of.unsure} inconclusive, ${of.waits} that wait.`;
}

/* Who is slow in all its calls, which the list of anomalies does not tell. */
function LiveSlowRanks() {
    const slow = useQuery(
        "slow",
        (abort) => getJson<LiveSlow>("/live/slow", abort),
        shown.value,
        true,
    );
    return (
        <Await of={slow} what="who is slow" empty="There is nothing yet.">
            {(of) => (
                <div class="live-slow">
                    <p class="dim">{slowSummary(of)}</p>
                    {!of.not_known && of.items.length > 0 && (
                        <table class="live-table">
                            <caption class="visually-hidden">Who is slow</caption>
                            <thead>
                                <tr>
                                    <th>Rank</th>
                                    <th>Verdict</th>
                                    <th>Longer</th>
                                    <th>In</th>
                                </tr>
                            </thead>
                            <tbody>
                                {of.items.slice(0, 10).map((item) => (
                                    <tr key={nameOfRank(item)}>
                                        <td>
                                            <button
                                                class="quiet"
                                                aria-pressed={rankChosen.value === item.rank}
                                                onClick={() => toggleRank(item.rank)}
                                            >
                                                {nameOfRank(item)}
                                            </button>
                                        </td>
                                        <td>{verdictWord(item.verdict)}</td>
                                        <td class="number">
                                            {(100 * Math.max(item.slowdown - 1, 0)).toFixed(1)}{" "}
                                            %
                                        </td>
                                        <td>{whyOf(item)}</td>
                                    </tr>
                                ))}
                            </tbody>
                        </table>
                    )}
                </div>
            )}
        </Await>
    );
}

export function LiveRanking() {
    return (
        <LivePanel
            name="ranking"
            title="Ranks and regions"
            tools={
                <Choice
                    label="Statistic"
                    value={statistic.value}
                    options={options}
                    choose={(v) => (statistic.value = v)}
                />
            }
        >
            <LiveSlowRanks />
            <Table<LiveRank>
                what="ranks"
                nameOf={nameOfRank}
                isChosen={(r) => rankChosen.value === r.rank}
                choose={(r) => toggleRank(r.rank)}
            />
            <Table<LiveRegion>
                what="regions"
                nameOf={(r) => r.short_name}
                isChosen={(r) => regionChosen.value === r.region}
                choose={(r) => toggleRegion(r.region)}
            />
        </LivePanel>
    );
}
