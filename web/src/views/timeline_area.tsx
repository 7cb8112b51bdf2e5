// The area that was drawn over lanes of the timeline, and what it holds: by function, rank or call path, as a table that
// can be sorted, copied and saved.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { getJson } from "../api/http";
import { Measure, MeasuredBy } from "../api/types";
import { Block, shownTop } from "../canvas/rows";
import { axisHeight } from "../canvas/timeline_draw";
import { Span } from "../canvas/window";
import { printCsv, Table as Csv } from "../format/csv";
import { formatCount, formatExactly, formatShare, formatTime, plural } from "../format/units";
import { copyText } from "../state/clipboard";
import { areaQuery } from "../state/call_walk";
import { isTyping } from "../state/key_table";
import { regionKind, regionKindName } from "../state/kinds";
import { regionName } from "../state/names";
import { locationsById } from "../state/places";
import { useQuery } from "../state/query";
import { showLane } from "../state/reveal";
import { Area, areaBy, areaOrder, regions, timeWindow } from "../state/store";
import { saveTable } from "./export";
import { FunctionButton } from "./function_button";
import { Choice } from "./live_panel";
import { Await } from "./panel";
import { SortedHead } from "./sorted_head";
import { areaKey, AreaRow, areaRows, areaTable, sortRows } from "./timeline_area_rows";
import { left } from "./timeline_scene";
import { Size } from "./use_size";
import { useOneStop } from "./use_one_stop";
import { PathNames } from "./name";

export function AreaOverlay(props: {
    of: Area;
    blocks: Block[];
    window: Span;
    scroll: number;
    size: Size;
}) {
    const { of, window, scroll, size } = props;
    const px = (units: number) => `${units * size.scale}px`;
    const xOf = (ns: number) => {
        const x = left + ((ns - window[0]) / (window[1] - window[0])) * (size.width - left);
        return Math.min(Math.max(x, left), size.width);
    };
    const [x0, x1] = [xOf(of.begin), xOf(of.end)];
    const covered = props.blocks.filter((b) => of.locations.includes(b.location));
    return (
        <>
            {covered.map((block, i) => (
                <div
                    key={block.location}
                    class="area"
                    style={{
                        left: px(x0),
                        width: px(Math.max(1, x1 - x0)),
                        top: px(axisHeight + scroll + shownTop(block, scroll)),
                        height: px(block.height),
                    }}
                >
                    {i === 0 && <span>{formatTime(of.end - of.begin)}</span>}
                </div>
            ))}
        </>
    );
}

const copy = (table: Csv) => copyText(printCsv(table), "The table, as CSV,", "save it");

/* "of 72.0 ms 61 % own code, 38 % MPI" */
function kindWords(it: Measure): string {
    const byKind = new Map<string, number>();
    for (const { region, own_ns } of it.items)
        byKind.set(regionKindName(region), (byKind.get(regionKindName(region)) ?? 0) + own_ns);
    const all = [...byKind.values()].reduce((sum, ns) => sum + ns, 0);
    if (!all) return "no time in calls";
    const shares = [...byKind]
        .sort((a, b) => b[1] - a[1])
        .map(([kind, ns]) => `${formatShare(ns / all)} ${kind}`);
    return `of ${formatTime(all)} in calls ${shares.join(", ")}`;
}

const words = { name: regionName, kind: regionKindName };
const mostRows = 500;
const titles: Record<MeasuredBy, string> = {
    region: "Function",
    rank: "Rank",
    path: "Call path",
};
const groupings: [MeasuredBy, string][] = [
    ["region", "by function"],
    ["rank", "by rank"],
    ["path", "by call path"],
];

function columnsOf(by: MeasuredBy) {
    return [
        { key: "name", title: titles[by], isWords: true },
        ...(by === "rank" ? [] : [{ key: "kind", title: "Kind", isWords: true }]),
        { key: "calls", title: "Calls" },
        { key: "total_ns", title: "Time", help: "in the area, with what it called" },
        { key: "own_ns", title: "Own time", help: "in the area, without what it called" },
    ];
}

/* The first lane of the area that is of a rank. */
function laneOf(rank: number, of: Area): number | undefined {
    return of.locations.find((id) => locationsById.value.get(id)?.rank === rank);
}

function Name({ row, by, of }: { row: AreaRow; by: MeasuredBy; of: Area }) {
    if (by !== "rank")
        return (
            <>
                {row.callers.length > 0 && (
                    <span class="dim">
                        <PathNames of={row.callers} /> &gt;{" "}
                    </span>
                )}
                <FunctionButton id={row.of.region} within={of} />
            </>
        );
    const lane = laneOf(row.of.rank, of);
    return (
        <button
            class="to-calls"
            disabled={lane === undefined}
            title="show its lane"
            onClick={() => lane !== undefined && showLane(lane)}
        >
            {row.name}
        </button>
    );
}

function Rows({ rows, by, of }: { rows: AreaRow[]; by: MeasuredBy; of: Area }) {
    const body = useRef<HTMLTableSectionElement>(null);
    useOneStop(body);
    return (
        <tbody ref={body}>
            {rows.slice(0, mostRows).map((row) => (
                <tr key={row.name}>
                    <th scope="row">
                        <Name row={row} by={by} of={of} />
                    </th>
                    {by !== "rank" && <td class="of-kind words">{row.kind}</td>}
                    <td>{formatCount(row.of.calls)}</td>
                    <td>{formatTime(row.of.total_ns)}</td>
                    <td>{formatTime(row.of.own_ns)}</td>
                </tr>
            ))}
        </tbody>
    );
}

function Table({ it, by, of }: { it: Measure; by: MeasuredBy; of: Area }) {
    const order = areaOrder.value;
    const rows = useMemo(
        () => sortRows(areaRows(it.items, by, words), order, by),
        [it, by, order, regions.value],
    );
    const csv = () => areaTable(rows, by, regionKind);
    useEffect(() => {
        // Ctrl+C, when no text is selected; the selection of the page knows nothing of what is selected in a field.
        const give = (event: ClipboardEvent) => {
            if (isTyping(event.target) || !document.getSelection()?.isCollapsed) return;
            event.clipboardData?.setData("text/plain", printCsv(csv()));
            event.preventDefault();
        };
        addEventListener("copy", give);
        return () => removeEventListener("copy", give);
    }, [rows]);
    return (
        <>
            <p>
                <Choice
                    value={by}
                    label="What is added up"
                    options={groupings}
                    choose={(next) => (areaBy.value = next)}
                />
                <button title="Ctrl+C" onClick={() => copy(csv())}>
                    Copy
                </button>
                <button onClick={() => saveTable(csv(), "area")}>Save as CSV</button>
                {rows.length > mostRows && (
                    <span class="dim">
                        {formatCount(mostRows)} of {formatCount(rows.length)} rows: the CSV has
                        all
                    </span>
                )}
            </p>
            <div class="area-table" tabIndex={0} role="region" aria-label="What the area holds">
                <table class="functions">
                    <SortedHead
                        columns={columnsOf(by)}
                        order={areaKey(order, by)}
                        sort={(next) => (areaOrder.value = next)}
                        isDownAtFirst={(key) => key !== "name" && key !== "kind"}
                    />
                    <Rows rows={rows} by={by} of={of} />
                </table>
            </div>
        </>
    );
}

function Summary({ it }: { it: Measure }) {
    const m = it.messages;
    return (
        <p>
            {kindWords(it)}; {plural(m.sent, "message")} sent ({formatCount(m.sent_bytes)}{" "}
            bytes), {formatCount(m.received)} received ({formatCount(m.received_bytes)} bytes)
        </p>
    );
}

/* by null: nothing is asked for. */
function useMeasure(of: Area, by: MeasuredBy | null) {
    const query = by && `${areaQuery(of)}${by === "region" ? "" : `&by=${by}`}`;
    return useQuery<Measure>(query, (abort) => getJson(`/measure?${query}`, abort));
}

export function AreaMeasured({ of, close }: { of: Area; close: () => void }) {
    const [begin, end] = [Math.floor(of.begin), Math.ceil(of.end)];
    const by = areaBy.value;
    const byRegion = useMeasure(of, "region");
    const byOther = useMeasure(of, by === "region" ? null : by);
    return (
        <section class="chosen" aria-label="Area">
            <p>
                <b>{formatTime(of.end - of.begin)}</b> from {formatExactly(begin)} to{" "}
                {formatExactly(end)}, on {plural(of.locations.length, "lane")}
                <button onClick={() => (timeWindow.value = [of.begin, of.end])}>
                    Zoom to it
                </button>
                <button class="quiet" aria-label="Close the area" onClick={close}>
                    ✕
                </button>
            </p>
            <Await of={byRegion} what="what it holds" empty="Nothing.">
                {(all) => (
                    <>
                        <Summary it={all} />
                        <Await
                            of={by === "region" ? byRegion : byOther}
                            what="what it holds"
                            empty="Nothing."
                        >
                            {(it) => <Table it={it} by={by} of={of} />}
                        </Await>
                    </>
                )}
            </Await>
        </section>
    );
}
