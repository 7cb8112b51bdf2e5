// Who sent how much to whom, of the run or of the window that the timeline shows: a matrix of ranks, and a table of
// the pairs. What is chosen in either is shown in the timeline.
import { useMemo, useRef } from "preact/hooks";
import { getBundle } from "../api/http";
import { Cell, cellAt, cellSteps, heatPixels } from "../canvas/heat";
import {
    heatOf,
    measured,
    Measured,
    MessageMatrix,
    pairAt,
    pairsBy,
    ranksOfRow,
    rowName,
    totalOf,
} from "../canvas/message_matrix";
import { countColour, css } from "../format/colour";
import { formatBytes, formatCount, formatTime, plural } from "../format/units";
import { showView } from "../state/shown_views";
import { locationOf } from "../state/places";
import { choosesExecutions } from "../state/filter";
import { isFiltered, lanesLeft } from "../state/filtered";
import { useQuery } from "../state/query";
import { filter, messagesBy, messagesOf, shownRanks, theme } from "../state/store";
import { windowNow } from "../state/timeline";
import { NotFiltered } from "./filters";
import { HeatPicture } from "./heat_picture";
import { inks } from "./inks";
import { Choice } from "./live_panel";
import { Await, Empty, Panel } from "./panel";
import { newPen, Picture, usePicture, useTable } from "./pictures";
import { useCell } from "./use_cell";
import { useOneStop } from "./use_one_stop";
import { useRested } from "./use_rested";

const names: Record<Measured, string> = {
    bytes: "bytes",
    messages: "messages",
    mean_ns: "mean transfer time",
    longest_ns: "longest transfer time",
    wait_ns: "waiting for the sender",
    longest_wait_ns: "longest wait for the sender",
};
const mostPairs = 200; /* in the table on the page */
const mostShown = 8; /* ranks of a row that the timeline gets */
const keyShares = [0.05, 0.25, 1];
const figure = { size: 420, left: 70, bottom: 34 };

function textOf(by: Measured, value: number): string {
    return by === "bytes"
        ? formatBytes(value)
        : by === "messages"
          ? formatCount(value)
          : formatTime(value);
}

async function load(window: string, abort: AbortSignal): Promise<MessageMatrix> {
    const { header, columns } = await getBundle(`/messages/matrix${window}`, abort);
    return { ...header, ...columns } as unknown as MessageMatrix;
}

/* Both in the timeline; of rows of many ranks the first ones. */
function showPair(of: MessageMatrix, from: number, to: number): void {
    const ranks = [from, to].flatMap((row) => ranksOfRow(of, row).slice(0, mostShown));
    const ids = ranks.flatMap((rank) => locationOf(rank, 0)?.id ?? []);
    if (!ids.length) return;
    shownRanks.value = [...new Set(ids)].sort((a, b) => a - b);
    showView("timeline");
}

function pairName(of: MessageMatrix, from: number, to: number): string {
    return `${rowName(of, from)} to ${rowName(of, to)}`;
}

function words(of: MessageMatrix, { row, column }: Cell): string {
    const at = pairAt(of, row, column);
    const pair = pairName(of, row, column);
    if (at < 0) return `${pair}: no messages`;
    const wait = of.wait_ns[at]
        ? `; the receiver waited ${formatTime(of.wait_ns[at])} for the sender, ${formatTime(of.longest_wait_ns[at])} at most`
        : "";
    return (
        `${pair}: ${plural(Math.round(of.messages[at]), "message")}, ${formatBytes(of.bytes[at])}; ` +
        `transfer ${formatTime(measured(of, "mean_ns", at))} in the mean, ${formatTime(of.longest_ns[at])} at most${wait}`
    );
}

/* Ranks that sent or received; where several share a row, all there are. */
function talking({ rank, ranks_per_row, from, to }: MessageMatrix): number {
    return ranks_per_row > 1 ? rank.length : new Set([...from, ...to]).size;
}

/* What the whole matrix holds. */
function summary(of: MessageMatrix): string {
    const about = of.is_estimate ? "about " : "";
    const lost = of.unmatched
        ? `; ${about}${formatCount(of.unmatched)} more were never seen to arrive`
        : "";
    return (
        `${about}${plural(Math.round(totalOf(of.messages)), "message")}, ${formatBytes(totalOf(of.bytes))}, ` +
        `between ${plural(talking(of), "rank")}${of.ranks_per_row > 1 ? `, ${of.ranks_per_row} to a row` : ""}; ` +
        `receivers waited ${about}${formatTime(totalOf(of.wait_ns))} for senders${lost}`
    );
}

function figureOf(of: MessageMatrix, by: Measured, canvas: HTMLCanvasElement): Picture {
    const { size, left, bottom } = figure;
    const highest = pairsBy(of, by)
        .slice(0, 1)
        .map((i) => measured(of, by, i));
    const pen = newPen();
    const colours = inks();
    pen.insert(
        `<image x="${left}" width="${size}" height="${size}" preserveAspectRatio="none" image-rendering="pixelated" href="${canvas.toDataURL()}"/>`,
    );
    pen.strokeStyle = colours.line;
    pen.strokeRect(left, 0, size, size);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = colours.dim;
    pen.textBaseline = "middle";
    const every = Math.ceil((of.rows * 14) / size);
    for (let row = 0; row < of.rows; row += every) {
        const middle = ((row + 0.5) * size) / of.rows;
        pen.textAlign = "right";
        pen.fillText(rowName(of, row), left - 6, middle);
    }
    const along = Math.ceil((of.rows * 40) / size);
    pen.textAlign = "center";
    for (let row = 0; row < of.rows; row += along)
        pen.fillText(
            String(ranksOfRow(of, row)[0]),
            left + ((row + 0.5) * size) / of.rows,
            size + 10,
        );
    pen.fillText("to rank", left + size / 2, size + 26);
    return {
        width: left + size,
        height: size + bottom,
        content: pen.toString(),
        about: names[by],
        keys: highest.flatMap((most) =>
            keyShares.map((share) => ({
                colour: css(countColour(Math.sqrt(share), theme.value === "dark")),
                text: textOf(by, share * most),
            })),
        ),
        notes: [`${summary(of)}.`],
    };
}

function Matrix({ of }: { of: MessageMatrix }) {
    const box = useRef<HTMLDivElement>(null);
    const { cell, now: cellNow, set: setCell } = useCell();
    const by = messagesBy.value;
    const isDark = theme.value === "dark";
    const { rgba, highest } = useMemo(
        () => heatPixels(heatOf(of, by), (x) => countColour(x, isDark)),
        [of, by, isDark],
    );
    usePicture("messages", () => figureOf(of, by, box.current!.querySelector("canvas")!));
    const key = (event: KeyboardEvent) => {
        const step = cellSteps[event.key];
        const first = { row: 0, column: 0 };
        if (event.key === "Enter")
            return () => {
                const { row, column } = cellNow() ?? first;
                showPair(of, row, column);
            };
        return (
            step &&
            (() => {
                const now = cellNow();
                setCell(
                    now
                        ? cellAt(of.rows, of.rows, now.column + step[1], now.row + step[0])
                        : first,
                );
            })
        );
    };
    const known = cell && cell.row < of.rows && cell.column < of.rows ? cell : null;
    const said = known
        ? words(of, known)
        : `Colour: ${names[by]}, at most ${textOf(by, highest)} in a cell.`;
    const share = (at: number) => `${(100 * at) / of.rows}%`;
    return (
        <div class="matrix">
            <HeatPicture
                rows={of.rows}
                columns={of.rows}
                box={box}
                of={[rgba]}
                rgba={() => rgba}
                ends={[rowName(of, 0), rowName(of, of.rows - 1)]}
                label={`Matrix of ${names[by]}`}
                hover={setCell}
                choose={({ row, column }: Cell) => showPair(of, row, column)}
                keys={key}
                role="group"
                name={`${names[by]} from each rank, downwards, to each rank, to the right; arrow keys move, Enter shows the two in the timeline`}
            >
                {known && (
                    <span
                        class="matrix-cell"
                        style={{
                            top: share(known.row),
                            left: share(known.column),
                            width: share(1),
                            height: share(1),
                        }}
                    />
                )}
            </HeatPicture>
            <p class="matrix-below dim" aria-hidden="true">
                <span>from ↓ to →</span>
                <span>{rowName(of, 0)}</span>
                {of.rows > 1 && <span>{rowName(of, of.rows - 1)}</span>}
            </p>
            <div class="legend map-legend">
                <span aria-live="polite" title={said}>
                    {said}
                </span>
                <span class="map-keys" aria-hidden="true">
                    {keyShares.map((x) => (
                        <span>
                            <i style={{ background: css(countColour(Math.sqrt(x), isDark)) }} />
                            {textOf(by, x * highest)}
                        </span>
                    ))}
                </span>
            </div>
        </div>
    );
}

const columns: { title: string; by: Measured; help?: string }[] = [
    { title: "Messages", by: "messages" },
    { title: "Bytes", by: "bytes" },
    {
        title: "Time",
        by: "mean_ns",
        help: "of a message, in the mean: from where it was sent to where it had arrived",
    },
    {
        title: "Longest",
        by: "longest_ns",
        help: "the same, of the one that took longest",
    },
    {
        title: "Waited",
        by: "wait_ns",
        help: "of receivers that were there before the sender; a call that receives several waits once, for the last of their senders",
    },
    { title: "Longest wait", by: "longest_wait_ns", help: "of one call" },
];

/* Where there is little room, what is not chosen makes way. */
function classOf(by: Measured): string {
    return `of-${by}${by === messagesBy.value ? " is-chosen" : ""}`;
}

/* The pairs, those of most first of what is coloured; a head chooses what that is. */
function Pairs({ of }: { of: MessageMatrix }) {
    const body = useRef<HTMLTableSectionElement>(null);
    useOneStop(body);
    const by = messagesBy.value;
    const pairs = useMemo(() => pairsBy(of, by), [of, by]);
    return (
        <div class="table" tabIndex={0} role="region" aria-label="Pairs of ranks">
            <table class="pairs">
                <thead>
                    <tr>
                        <th scope="col" class="words">
                            From, to
                        </th>
                        {columns.map((column) => (
                            <th
                                scope="col"
                                class={classOf(column.by)}
                                aria-sort={column.by === by ? "descending" : "none"}
                            >
                                <button
                                    class="quiet"
                                    title={column.help}
                                    onClick={() => (messagesBy.value = column.by)}
                                >
                                    {column.title}
                                    {column.by === by ? " ↓" : ""}
                                </button>
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody ref={body}>
                    {pairs.slice(0, mostPairs).map((i) => (
                        <tr key={i}>
                            <th scope="row">
                                <button
                                    class="to-calls"
                                    title="Show both in the timeline"
                                    onClick={() => showPair(of, of.from[i], of.to[i])}
                                >
                                    <span>{rowName(of, of.from[i])}</span> to{" "}
                                    <span>{rowName(of, of.to[i])}</span>
                                </button>
                            </th>
                            {columns.map((column) => (
                                <td class={classOf(column.by)}>
                                    {textOf(column.by, measured(of, column.by, i))}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
            {pairs.length > mostPairs && (
                <p class="dim">
                    {plural(pairs.length - mostPairs, "more pair")}: save the table.
                </p>
            )}
        </div>
    );
}

function Found({ of }: { of: MessageMatrix }) {
    useTable("messages", () => ({
        head: ["from", "to", ...columns.map(({ by }) => by)],
        rows: pairsBy(of, messagesBy.value).map((i) => [
            rowName(of, of.from[i]),
            rowName(of, of.to[i]),
            ...columns.map(({ by }) => measured(of, by, i)),
        ]),
    }));
    if (!of.from.length)
        return (
            <Empty>
                {messagesOf.value === "window"
                    ? "No message was sent in this window."
                    : isFiltered.value
                      ? "No message passes the filter."
                      : "The trace has no messages from rank to rank. Collectives are not in this table; the timeline has them."}
            </Empty>
        );
    return (
        <>
            <p class="matrix-sum">{summary(of)}.</p>
            <div class="matrix-and-pairs">
                <Matrix of={of} />
                <Pairs of={of} />
            </div>
        </>
    );
}

/* The window of the timeline, or the time and the lanes of the filter; "": the run; null: there are no lanes. */
function partNow(): string | null {
    const isOfWindow = messagesOf.value === "window";
    const time = isOfWindow ? windowNow.value : filter.value.time;
    const lanes = isOfWindow ? null : lanesLeft.value;
    if (lanes && !lanes.length) return null;
    const said = [
        ...(time ? [`begin=${Math.floor(time[0])}&end=${Math.ceil(time[1])}`] : []),
        ...(lanes ? [`ends=${lanes.join()}`] : []),
    ];
    return said.length ? `?${said.join("&")}` : "";
}

/* Which messages these are, where that is neither said by the choice above nor by the filter alone. */
function Whose() {
    if (messagesOf.value === "window")
        return <NotFiltered>The window decides here, not the filter.</NotFiltered>;
    const parts = [
        ...(lanesLeft.value ? ["Messages with an end on the lanes of the filter."] : []),
        ...(choosesExecutions(filter.value)
            ? ["All messages there and then count, not only those in executions that pass."]
            : []),
    ];
    return parts.length ? <NotFiltered>{parts.join(" ")}</NotFiltered> : null;
}

export function MessagesView() {
    const wanted = partNow();
    const rested = useRested(wanted, wanted ?? "");
    const isOfWindow = messagesOf.value === "window";
    const asked = isOfWindow ? rested : wanted; /* a filter does not move many times a second */
    const about = isOfWindow ? "messages of the window" : `messages ${wanted}`;
    const matrix = useQuery<MessageMatrix>(
        asked === null ? null : about,
        (abort) => load(asked!, abort),
        asked ?? "",
    );
    const tools = (
        <>
            <Choice
                label="What is coloured"
                value={messagesBy.value}
                options={Object.entries(names) as [Measured, string][]}
                choose={(by) => (messagesBy.value = by)}
            />
            <Choice
                label="Messages of"
                value={messagesOf.value}
                title="A message belongs to the window in which it was sent"
                options={[
                    ["run", isFiltered.value ? "of what passes the filter" : "of the run"],
                    ["window", "of the timeline's window"],
                ]}
                choose={(of) => (messagesOf.value = of)}
            />
        </>
    );
    return (
        <Panel name="messages" tools={tools}>
            <Whose />
            <Await of={matrix} what="the messages" empty="No rank passes the filter.">
                {(found) => <Found of={found} />}
            </Await>
        </Panel>
    );
}
