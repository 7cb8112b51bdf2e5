// All functions of the trace, in a table that can be sorted; or those of what passes the filter, or of the window that the
// timeline shows, on all lanes or on its own.
import { computed } from "@preact/signals";
import { useRef } from "preact/hooks";
import { getJson } from "../api/http";
import { FilteredMeasure, Measure, Measured, Region } from "../api/types";
import { Table } from "../format/csv";
import { formatCount, formatTime, ifKnown, plural } from "../format/units";
import { filterNow, filterVersion, isFiltered, lanesLeft } from "../state/filtered";
import { Answer, useQuery } from "../state/query";
import {
    Area,
    foi,
    regionFilter as text,
    regionOrder as sorting,
    regions,
    regionsOf,
    run,
} from "../state/store";
import { lanesNow, windowNow } from "../state/timeline";
import { regionKind, regionKindName } from "../state/kinds";
import { NotFiltered } from "./filters";
import { FunctionButton } from "./function_button";
import { Choice } from "./live_panel";
import { Await, Empty, Panel } from "./panel";
import { usePicture, useTable } from "./pictures";
import { tableFigure } from "./table_figure";
import { SortedHead } from "./sorted_head";
import { useOneStop } from "./use_one_stop";
import { useRested } from "./use_rested";

type Column = { key: keyof Region; title: string; text: (r: Region) => string; help?: string };

/* All that is known of each, in the units of the file formats. */
function regionTable(list: Region[], isWhole: boolean): Table {
    const whole = ["min_ns", "max_ns", "variation", "locations"] as const;
    const head = [
        ...(["name", "kind", "calls", "inclusive_ns", "exclusive_ns"] as const),
        ...(isWhole ? whole : []),
        ...(["file", "line"] as const),
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
        text: (r) => ifKnown(r.min_ns, formatTime),
    },
    {
        key: "max_ns",
        title: "Longest",
        text: (r) => ifKnown(r.max_ns, formatTime),
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

const ofPart: readonly (keyof Region)[] = [
    "short_name",
    "kind",
    "calls",
    "inclusive_ns",
    "exclusive_ns",
]; /* what is known of a part of the run, too */

/* What a link says may be no column. */
function sortKey(among: Column[]): keyof Region {
    const { key } = sorting.value;
    return among.find((column) => column.key === key)?.key ?? "exclusive_ns";
}

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

/* Whose functions: all of the run where there is none; else of these lanes then, or of executions there alone. */
interface Part extends Area {
    isOfExecutions: boolean;
}

/* What the timeline shows, or its window on all lanes; null: all of the run, or what passes the filter. */
function partNow(): Part | null {
    const window = regionsOf.value === "run" ? null : windowNow.value;
    if (!window) return null;
    const [begin, end] = [Math.floor(window[0]), Math.ceil(window[1])];
    const lanes = lanesNow.value.map(({ location }) => location);
    const isOfLanes = regionsOf.value === "lanes" && lanes.length > 0;
    const locations = isOfLanes ? lanes : run.value!.locations.map(({ id }) => id);
    return { begin, end, locations, isOfExecutions: false };
}

function measure({ begin, end, locations }: Area, abort: AbortSignal): Promise<Measure> {
    const lanes =
        locations.length < run.value!.locations.length
            ? `&locations=${locations.join(",")}`
            : ""; /* all of them make no address */
    return getJson<Measure>(`/measure?begin=${begin}&end=${end}${lanes}`, abort);
}

/* With what each took of the part. */
function regionsIn(items: Measured[]): Region[] {
    return items.flatMap(({ region, calls, total_ns, own_ns }) => {
        const whole = regions.value.get(region);
        return whole ? [{ ...whole, calls, inclusive_ns: total_ns, exclusive_ns: own_ns }] : [];
    });
}

const mostRows = 500;

function Rows(props: { of: Region[]; columns: Column[]; within: Area | null }) {
    const rows = useRef<HTMLTableSectionElement>(null);
    useOneStop(rows);
    return (
        <tbody ref={rows}>
            {props.of.map((r) => (
                <tr key={r.id}>
                    {props.columns.map(({ key, text: print }) =>
                        key === "short_name" ? (
                            <th scope="row">
                                <FunctionButton id={r.id} within={props.within ?? undefined} />
                            </th>
                        ) : (
                            <td class={`of-${key}${key === "kind" ? " words" : ""}`}>
                                {print(r)}
                            </td>
                        ),
                    )}
                </tr>
            ))}
        </tbody>
    );
}

function Found({ of, part }: { of: Region[]; part: Part | null }) {
    const wanted = text.value.toLowerCase();
    const known = titled(part ? columns.filter(({ key }) => ofPart.includes(key)) : columns);
    const key = sortKey(known);
    const all = of.filter((r) => r.calls > 0 && r.name.toLowerCase().includes(wanted));
    const sorted = sortRegions(all, key, sorting.value.isDown);
    useTable("regions", () => regionTable(sorted, !part));
    usePicture("regions", () =>
        tableFigure(
            known.map((c) => ({ ...c, isWords: isOfWords(c) })),
            sorted,
        ),
    );
    if (!all.length)
        return (
            <Empty>
                {wanted
                    ? "No function is called like that."
                    : part
                      ? part.isOfExecutions
                          ? "No execution passes the filter."
                          : "No function runs in this window."
                      : "The trace has no calls."}
            </Empty>
        );
    return (
        <div class="table" tabIndex={0} role="region" aria-label="Table of functions">
            {part && (
                <p>
                    {plural(all.length, "function")}
                    {part.isOfExecutions &&
                        " in the executions that pass the filter,"} from{" "}
                    {formatTime(part.begin)} to {formatTime(part.end)} on{" "}
                    {plural(part.locations.length, "lane")}; times are those in{" "}
                    {part.isOfExecutions ? "these" : "this window"}.
                </p>
            )}
            <table class="functions">
                <SortedHead
                    columns={known.map((c) => ({ ...c, isWords: isOfWords(c) }))}
                    order={{ ...sorting.value, key }}
                    sort={(order) => (sorting.value = order)}
                    isDownAtFirst={(by) => by !== "short_name"}
                />
                <Rows of={sorted.slice(0, mostRows)} columns={known} within={part} />
            </table>
            {all.length > mostRows && (
                <p class="dim">
                    {formatCount(all.length - mostRows)} more: filter by name to see them.
                </p>
            )}
        </div>
    );
}

interface Functions {
    of: Region[];
    part: Part;
}

function Answered({ of }: { of: Answer<Functions> }) {
    return (
        <Await of={of} what="the functions" empty="There is no window.">
            {(found) => <Found of={found.of} part={found.part} />}
        </Await>
    );
}

/* The same for a part of the run, which is asked for once the window rests. */
function FoundIn({ part }: { part: Part }) {
    const wanted = `${part.begin} ${part.end} ${part.locations.join()}`;
    const asked = useRested({ part, key: wanted }, wanted);
    const measured = useQuery<Functions>(
        "regions of a part",
        async (abort) => ({
            of: regionsIn((await measure(asked.part, abort)).items),
            part: asked.part,
        }),
        asked.key,
    );
    return <Answered of={measured} />;
}

/* ... and for what passes the filter. */
function FoundFiltered() {
    const [id, asked] = [foi.value?.id, filterNow.value];
    const locations = lanesLeft.value ?? run.value!.locations.map((l) => l.id);
    const measured = useQuery<Functions>(
        id === undefined ? null : `regions that pass ${id} ${asked}`,
        async (abort) => {
            const { begin_ns, end_ns, is_of_executions, items } =
                await getJson<FilteredMeasure>(`/fois/${id}/measure?${asked}`, abort);
            const part = { begin: begin_ns, end: end_ns, locations };
            return {
                of: regionsIn(items),
                part: { ...part, isOfExecutions: is_of_executions },
            };
        },
        filterVersion.value,
    );
    return <Answered of={measured} />;
}

export function Regions() {
    const part = partNow();
    const tools = (
        <>
            <Choice
                label="Functions of"
                value={regionsOf.value}
                options={[
                    ["run", isFiltered.value ? "of what passes the filter" : "of the run"],
                    ["window", "of the timeline's window"],
                    ["lanes", "of its window and lanes"],
                ]}
                choose={(of) => (regionsOf.value = of)}
            />
            <input
                type="search"
                placeholder="filter"
                aria-label="Filter functions by name"
                value={text.value}
                onInput={(e) => (text.value = e.currentTarget.value)}
            />
        </>
    );
    return (
        <Panel name="regions" tools={tools}>
            {part ? (
                <>
                    <NotFiltered>The window decides here, not the filter.</NotFiltered>
                    <FoundIn part={part} />
                </>
            ) : isFiltered.value ? (
                <FoundFiltered />
            ) : (
                <Found of={[...regions.value.values()]} part={null} />
            )}
        </Panel>
    );
}
