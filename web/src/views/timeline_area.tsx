// The area that was drawn over lanes of the timeline, and what it holds: by function, as a table that can
// be copied or saved.
import { useEffect, useRef } from "preact/hooks";
import { getJson } from "../api/http";
import { Measure } from "../api/types";
import { Block, shownTop } from "../canvas/rows";
import { axisHeight } from "../canvas/timeline_draw";
import { Span } from "../canvas/window";
import { printCsv, Table as Csv } from "../format/csv";
import { formatCount, formatShare, formatTime, plural } from "../format/units";
import { areaQuery } from "../state/call_walk";
import { regionKind, regionKindName } from "../state/kinds";
import { regionName } from "../state/names";
import { useQuery } from "../state/query";
import { Area, notice, timeWindow } from "../state/store";
import { saveTable } from "./export";
import { FunctionButton } from "./function_button";
import { Await } from "./panel";
import { left } from "./timeline_scene";
import { Size } from "./use_size";
import { useOneStop } from "./use_one_stop";

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

/* What took longest first. */
function inOrder(it: Measure): Measure["items"] {
    return [...it.items].sort((a, b) => b.own_ns - a.own_ns || b.calls - a.calls);
}

function tableOf(it: Measure): Csv {
    return {
        head: ["function", "kind", "calls", "total_ns", "own_ns"],
        rows: inOrder(it).map((x) => [
            regionName(x.region),
            regionKind(x.region),
            x.calls,
            x.total_ns,
            x.own_ns,
        ]),
    };
}

async function copy(it: Measure): Promise<void> {
    try {
        await navigator.clipboard.writeText(printCsv(tableOf(it)));
        notice.value = { text: "The table is copied, as CSV.", isError: false };
    } catch {
        notice.value = {
            text: "The browser does not let it be copied: save it.",
            isError: true,
        };
    }
}

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

function Table({ it, of }: { it: Measure; of: Area }) {
    const m = it.messages;
    const rows = useRef<HTMLTableSectionElement>(null);
    useOneStop(rows);
    useEffect(() => {
        // Ctrl+C, when no text is selected.
        const give = (event: ClipboardEvent) => {
            if (!document.getSelection()?.isCollapsed) return;
            event.clipboardData?.setData("text/plain", printCsv(tableOf(it)));
            event.preventDefault();
        };
        addEventListener("copy", give);
        return () => removeEventListener("copy", give);
    }, [it]);
    return (
        <>
            <p>
                {kindWords(it)}; {plural(m.sent, "message")} sent ({formatCount(m.sent_bytes)}{" "}
                bytes), {formatCount(m.received)} received ({formatCount(m.received_bytes)}{" "}
                bytes)
                <button title="Ctrl+C" onClick={() => copy(it)}>
                    Copy
                </button>
                <button onClick={() => saveTable(tableOf(it), "area")}>Save as CSV</button>
            </p>
            <div class="area-table" tabIndex={0} role="region" aria-label="What the area holds">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">Function</th>
                            <th scope="col" class="words">
                                Kind
                            </th>
                            <th scope="col">Calls</th>
                            <th scope="col" title="in the area, with what it called">
                                Time
                            </th>
                            <th scope="col" title="in the area, without what it called">
                                Own time
                            </th>
                        </tr>
                    </thead>
                    <tbody ref={rows}>
                        {inOrder(it).map((x) => (
                            <tr key={x.region}>
                                <th scope="row">
                                    <FunctionButton id={x.region} within={of} />
                                </th>
                                <td class="words">{regionKindName(x.region)}</td>
                                <td>{formatCount(x.calls)}</td>
                                <td>{formatTime(x.total_ns)}</td>
                                <td>{formatTime(x.own_ns)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </>
    );
}

export function AreaMeasured({ of, close }: { of: Area; close: () => void }) {
    const [begin, end] = [Math.floor(of.begin), Math.ceil(of.end)];
    const query = areaQuery(of);
    const measure = useQuery<Measure>(query, (abort) => getJson(`/measure?${query}`, abort));
    return (
        <section class="chosen" aria-label="Area">
            <p>
                <b>{formatTime(of.end - of.begin)}</b> from {formatCount(begin)} to{" "}
                {formatCount(end)} ns, on {plural(of.locations.length, "lane")}
                <button onClick={() => (timeWindow.value = [of.begin, of.end])}>
                    Zoom to it
                </button>
                <button class="quiet" aria-label="Close the area" onClick={close}>
                    ✕
                </button>
            </p>
            <Await of={measure} what="what it holds" empty="Nothing.">
                {(it) => <Table it={it} of={of} />}
            </Await>
        </section>
    );
}
