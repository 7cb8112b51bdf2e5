// All functions of the trace, in a table that can be sorted: of the run, or of the time and the rank that the list is
// filtered to.
import { computed } from "@preact/signals";
import { useRef } from "preact/hooks";
import { getJson } from "../api/http";
import { Measure, Region } from "../api/types";
import { Table } from "../format/csv";
import { formatCount, formatTime } from "../format/units";
import { ListFilter } from "../state/list_filter";
import { useQuery } from "../state/query";
import {
    filter,
    regionFilter as text,
    regionOrder as sorting,
    regions,
    run,
} from "../state/store";
import { regionKind, regionKindName } from "../state/kinds";
import { FunctionButton } from "./function_button";
import { Await, Empty, Panel } from "./panel";
import { usePicture, useTable } from "./pictures";
import { tableFigure } from "./table_figure";
import { SortedHead } from "./sorted_head";
import { useOneStop } from "./use_one_stop";

type Column = { key: keyof Region; title: string; text: (r: Region) => string; help?: string };

/* All that is known of each, in the units of the file formats. */
function regionTable(list: Region[]): Table {
    const head = [
        ...([
            "name",
            "kind",
            "calls",
            "inclusive_ns",
            "exclusive_ns",
            "min_ns",
            "max_ns",
        ] as const),
        ...(["variation", "locations", "file", "line"] as const),
    ];
    const cell = (r: Region, key: (typeof head)[number]) =>
        key === "kind" ? regionKind(r.id) : r[key];
    return { head: [...head], rows: list.map((r) => head.map((key) => cell(r, key))) };
}

const allColumns: Column[] = [
    { key: "short_name", title: "Function", text: (r) => r.short_name },
    { key: "kind", title: "Kind", text: (r) => regionKindName(r.id) },
    { key: "calls", title: "Calls", text: (r) => formatCount(r.calls) },
    {
        key: "inclusive_ns",
        title: "Time",
        text: (r) => formatTime(r.inclusive_ns),
        help: "with what it called",
    },
    {
        key: "exclusive_ns",
        title: "Own time",
        text: (r) => formatTime(r.exclusive_ns),
        help: "without what it called",
    },
    {
        key: "min_ns",
        title: "Shortest",
        text: (r) => (r.min_ns === null ? "-" : formatTime(r.min_ns)),
    },
    {
        key: "max_ns",
        title: "Longest",
        text: (r) => (r.max_ns === null ? "-" : formatTime(r.max_ns)),
    },
    {
        key: "variation",
        title: "Spread",
        text: (r) => r.variation.toFixed(2),
        help: "standard deviation over mean of the times of its calls",
    },
    { key: "locations", title: "Ranks", text: (r) => formatCount(r.locations) },
];

const isOfWords = ({ key }: Column): boolean => key === "short_name" || key === "kind";

/* The server counts lanes: threads and streams, too. */
const countsLanes = computed(() => run.value?.locations.some((l) => l.thread > 0) ?? false);

function titled(columns: Column[]): Column[] {
    if (!countsLanes.value) return columns;
    return columns.map((c) =>
        c.key === "locations"
            ? { ...c, title: "Lanes", help: "ranks, threads and streams that called it" }
            : c,
    );
}

function sortRegions(list: Region[], key: keyof Region, isDown: boolean): Region[] {
    const sign = isDown ? -1 : 1;
    return [...list].sort((a, b) => {
        const of = (r: Region) => (key === "kind" ? regionKindName(r.id) : r[key]);
        const [x, y] = [of(a), of(b)];
        if (typeof x === "string" && typeof y === "string") return sign * x.localeCompare(y);
        return sign * (Number(x ?? -1) - Number(y ?? -1)) || a.id - b.id;
    });
}

/* What a link says may be no column. */
function sortKey(): keyof Region {
    const { key } = sorting.value;
    return allColumns.find((column) => column.key === key)?.key ?? "exclusive_ns";
}

const mostRows = 500;
const ofWholeRun: (keyof Region)[] = ["min_ns", "max_ns", "variation", "locations"];

/* As the server measures an area; null: nothing is filtered. */
function measuredQuery({ time, rank }: ListFilter): string | null {
    if (!time && rank === null) return null;
    const parts = time ? [`begin=${Math.floor(time[0])}`, `end=${Math.ceil(time[1])}`] : [];
    const there = run.value?.locations.filter((l) => l.rank === rank) ?? [];
    if (rank !== null && there.length) parts.push(`locations=${there.map((l) => l.id).join()}`);
    return parts.join("&");
}

/* Those with a part in it, with what they took in it. */
function regionsIn({ items }: Measure): Region[] {
    return items.flatMap(({ region, calls, total_ns, own_ns }) => {
        const of = regions.value.get(region);
        return of ? [{ ...of, calls, inclusive_ns: total_ns, exclusive_ns: own_ns }] : [];
    });
}

function Rows({ of, columns }: { of: Region[]; columns: Column[] }) {
    const rows = useRef<HTMLTableSectionElement>(null);
    useOneStop(rows);
    return (
        <tbody ref={rows}>
            {of.map((r) => (
                <tr key={r.id}>
                    {columns.map(({ key, text: print }) =>
                        key === "short_name" ? (
                            <th scope="row">
                                <FunctionButton id={r.id} />
                            </th>
                        ) : (
                            <td class={key === "kind" ? "words" : ""}>{print(r)}</td>
                        ),
                    )}
                </tr>
            ))}
        </tbody>
    );
}

function FilteredTo({ of }: { of: ListFilter }) {
    const rank = of.rank === null ? "" : `on rank ${of.rank}`;
    const time = of.time && `from ${formatTime(of.time[0])} to ${formatTime(of.time[1])}`;
    return (
        <p class="dim">{[rank, time].filter(Boolean).join(", ")}: as the list is filtered</p>
    );
}

export function Regions() {
    const query = measuredQuery(filter.value);
    const measured = useQuery<Measure>(query, (abort) => getJson(`/measure?${query}`, abort));
    const tools = (
        <input
            type="search"
            placeholder="filter"
            aria-label="Filter functions by name"
            value={text.value}
            onInput={(e) => (text.value = e.currentTarget.value)}
        />
    );
    return (
        <Panel name="regions" tools={tools}>
            {query === null ? (
                <RegionTable of={[...regions.value.values()]} columns={allColumns} />
            ) : (
                <Await of={measured} what="functions" empty="">
                    {(it) => (
                        <RegionTable
                            of={regionsIn(it)}
                            columns={allColumns.filter(({ key }) => !ofWholeRun.includes(key))}
                            within={filter.value}
                        />
                    )}
                </Await>
            )}
        </Panel>
    );
}

function RegionTable(props: { of: Region[]; columns: Column[]; within?: ListFilter }) {
    const columns = titled(props.columns);
    const wanted = text.value.toLowerCase();
    const all = props.of.filter((r) => r.calls > 0 && r.name.toLowerCase().includes(wanted));
    const sorted = sortRegions(all, sortKey(), sorting.value.isDown);
    useTable("regions", () => regionTable(sorted));
    usePicture("regions", () =>
        tableFigure(
            columns.map((c) => ({ ...c, isWords: isOfWords(c) })),
            sorted,
        ),
    );
    return (
        <>
            {all.length ? (
                <div class="table" tabIndex={0} role="region" aria-label="Table of functions">
                    {props.within && <FilteredTo of={props.within} />}
                    <table>
                        <SortedHead
                            columns={columns.map((c) => ({ ...c, isWords: isOfWords(c) }))}
                            order={{ ...sorting.value, key: sortKey() }}
                            sort={(order) => (sorting.value = order)}
                            isDownAtFirst={(key) => key !== "short_name"}
                        />
                        <Rows of={sorted.slice(0, mostRows)} columns={columns} />
                    </table>
                    {all.length > mostRows && (
                        <p class="dim">
                            {formatCount(all.length - mostRows)} more: filter by name to see
                            them.
                        </p>
                    )}
                </div>
            ) : (
                <Empty>
                    {wanted
                        ? "No function is called like that."
                        : props.within
                          ? "No function was called there."
                          : "The trace has no calls."}
                </Empty>
            )}
        </>
    );
}
