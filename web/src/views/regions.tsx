// All functions of the trace, in a table that can be sorted.
import { useRef } from "preact/hooks";
import { Region } from "../api/types";
import { Table } from "../format/csv";
import { formatCount, formatTime } from "../format/units";
import { regionFilter as text, regionOrder as sorting, regions } from "../state/store";
import { regionKind, regionKindName } from "../state/kinds";
import { FunctionButton } from "./function_button";
import { Empty, Panel } from "./panel";
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

const columns: Column[] = [
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
    return columns.find((column) => column.key === key)?.key ?? "exclusive_ns";
}

const mostRows = 500;

function Rows({ of }: { of: Region[] }) {
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

export function Regions() {
    const wanted = text.value.toLowerCase();
    const all = [...regions.value.values()].filter(
        (r) => r.calls > 0 && r.name.toLowerCase().includes(wanted),
    );
    const sorted = sortRegions(all, sortKey(), sorting.value.isDown);
    useTable("regions", () => regionTable(sorted));
    usePicture("regions", () =>
        tableFigure(
            columns.map((c) => ({ ...c, isWords: c.key === "short_name" || c.key === "kind" })),
            sorted,
        ),
    );
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
            {all.length ? (
                <div class="table" tabIndex={0} role="region" aria-label="Table of functions">
                    <table>
                        <SortedHead
                            columns={columns}
                            order={{ ...sorting.value, key: sortKey() }}
                            sort={(order) => (sorting.value = order)}
                            isDownAtFirst={(key) => key !== "short_name"}
                        />
                        <Rows of={sorted.slice(0, mostRows)} />
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
                    {wanted ? "No function is called like that." : "The trace has no calls."}
                </Empty>
            )}
        </Panel>
    );
}
