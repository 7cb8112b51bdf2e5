// All ranks over time, as the way in where they are many: what was lost, waited, or went into a function. A click
// shows the lane and its time in the timeline, dragging over an area the lanes in it that hold most.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getBundle } from "../api/http";
import { Location } from "../api/types";
import { drawTimeAxis, timeAxisHeight } from "../canvas/figure";
import { Cell, cellAt, cellSteps } from "../canvas/heat";
import {
    cellNs,
    mapPixels,
    mostOf,
    opacity,
    orderRows,
    pixelRows,
    RankMap,
    rowsOfPixel,
} from "../canvas/rank_map";
import { css } from "../format/colour";
import { upper } from "../format/origin";
import { anomalyColour, Rgb } from "../format/palette";
import { notKnownWords } from "../format/cost_words";
import { locationName } from "../format/ids";
import { formatTime, plural } from "../format/units";
import { choosesExecutions } from "../state/filter";
import { filterNow, filterVersion, lanesLeft, placesNow } from "../state/filtered";
import { readLanes } from "../state/lanes";
import { regionName } from "../state/names";
import { locationsById } from "../state/places";
import { useQuery } from "../state/query";
import { showLane } from "../state/reveal";
import { shownNow } from "../state/selected";
import {
    executions,
    filter,
    foi,
    isFew,
    mapOf,
    mapOrder,
    mapRanks,
    regions,
    run,
    selected,
    shownRanks,
    timeWindow,
} from "../state/store";
import { windowShown } from "../state/timeline";
import { Point } from "./canvas";
import { HeatPicture } from "./heat_picture";
import { Choice } from "./live_panel";
import { Await, Empty, Panel } from "./panel";
import { inks } from "./inks";
import { newPen, Picture, usePicture, useTable } from "./pictures";
import { nameOfLocation } from "./timeline_scene";
import { useCell } from "./use_cell";
import { useSize } from "./use_size";

const mostWidth = 256; /* stretches of time, */
const mostCells = 1.5e6; /* and of many lanes fewer: all is sent at once */
const mostFunctions = 40; /* in the choice */
const mostShown = 24; /* lanes that an area shows */
const around = 1; /* stretches on both sides of a cell that is shown */

const names: Record<string, string> = {
    lost: "time lost, beyond what is typical",
    cost: "cost to the run",
    waiting: "time in MPI",
};
const keyShares = [0.05, 0.25, 1]; /* of the most there is, in the legend */

/* All that have calls; streams of GPUs where there is something on them: executions mostly are not. */
function lanesOf(locations: Location[], total: ArrayLike<number>): number[] {
    const there = locations.filter((l) => l.calls !== 0 && (!l.is_gpu || total[l.id] > 0));
    return (there.length ? there : locations).map((l) => l.id);
}

/* "rank 3.2": streams have long names. */
function shortName(id: number): string {
    const place = locationsById.value.get(id);
    return place ? locationName(place.rank, place.thread) : "";
}

function nameOf(of: string): string {
    return names[of] ?? `time in ${regionName(Number(of))}`;
}

async function loadMap(of: string, asked: string, abort: AbortSignal): Promise<RankMap> {
    const what = of in names ? `of=${of}` : `of=region&region=${of}`;
    const lanes = run.value!.locations.length;
    const width = Math.max(32, Math.min(mostWidth, Math.floor(mostCells / lanes)));
    const { header, columns } = await getBundle(
        `/fois/${foi.value?.id}/map?${what}&width=${width}&${asked}`,
        abort,
    );
    return { ...header, ...columns } as unknown as RankMap;
}

function Tools() {
    const [text, setText] = useState(mapRanks.value);
    const [isWrong, setWrong] = useState(false);
    useEffect(() => setText(mapRanks.value), [mapRanks.value]);
    const functions = [...regions.value.values()]
        .filter((r) => r.calls > 0)
        .sort((a, b) => b.exclusive_ns - a.exclusive_ns)
        .slice(0, mostFunctions);
    const take = (said: string) => {
        const isRight = !said.trim() || readLanes(said, run.value!.locations) !== null;
        setWrong(!isRight);
        if (isRight) mapRanks.value = said.trim();
    };
    return (
        <>
            <label>
                <span class="visually-hidden">Coloured by</span>
                <Choice
                    value={mapOf.value}
                    title="What is coloured"
                    options={[
                        ["lost", "time lost"],
                        ["cost", "cost to the run"],
                        ["waiting", "time in MPI"],
                        ...functions.map((r): [string, string] => [
                            String(r.id),
                            `in ${r.short_name}`,
                        ]),
                    ]}
                    choose={(of) => (mapOf.value = of)}
                />
            </label>
            <label>
                order{" "}
                <Choice
                    value={mapOrder.value}
                    options={[
                        ["rank", "by rank"],
                        ["most", "most first"],
                    ]}
                    choose={(by) => (mapOrder.value = by)}
                />
            </label>
            <input
                type="search"
                aria-label="Ranks of the map"
                title="Which ranks, as 0-99, 612, 7.* (with all threads)"
                placeholder="all ranks"
                value={text}
                aria-invalid={isWrong}
                onChange={(e) => take(e.currentTarget.value)}
            />
        </>
    );
}

interface Shape {
    map: RankMap;
    rows: number[]; /* locations, from above */
    pixels: number; /* rows of the picture */
}

function timeOf({ map }: Shape, column: number): number {
    return map.begin_ns + (column * (map.end_ns - map.begin_ns)) / map.width;
}

/* Of the ranks that a row of pixels stands for, the one that holds most there. */
function rankAt({ map, rows, pixels }: Shape, { row, column }: Cell): number {
    const [from, until] = rowsOfPixel(row, pixels, rows.length);
    return rows
        .slice(from, until)
        .reduce((best, at) =>
            cellNs(map, at, column) > cellNs(map, best, column) ? at : best,
        );
}

function showCell(of: Shape, cell: Cell): void {
    showLane(rankAt(of, cell));
    timeWindow.value = [timeOf(of, cell.column - around), timeOf(of, cell.column + 1 + around)];
}

/* The lanes of an area, and its time. */
function showArea(of: Shape, a: Cell, b: Cell): void {
    const columns: [number, number] = [
        Math.min(a.column, b.column),
        Math.max(a.column, b.column) + 1,
    ];
    const [from] = rowsOfPixel(Math.min(a.row, b.row), of.pixels, of.rows.length);
    const [, until] = rowsOfPixel(Math.max(a.row, b.row), of.pixels, of.rows.length);
    shownRanks.value = mostOf(of.map, of.rows.slice(from, until), columns, mostShown);
    timeWindow.value = [timeOf(of, columns[0]), timeOf(of, columns[1])];
}

function onWhite(opacity: number): Rgb {
    return anomalyColour.map((c) => Math.round(255 + (c - 255) * opacity)) as Rgb;
}

function opacityOf(share: number): number {
    return opacity(255 * Math.sqrt(share));
}

function shadeOf(share: number): string {
    return `rgb(${anomalyColour.join(" ")} / ${opacityOf(share)})`;
}

/* Calls are not told by executions: the lanes and the time of the filter hold, what else it says does not. */
function isOfCalls(of: string): boolean {
    return of !== "lost" && of !== "cost";
}

/* What the cells do not say. */
function notesOf({ n_bounds, not_known }: RankMap): string[] {
    const unknown = not_known && notKnownWords(not_known);
    const slow = isOfCalls(mapOf.value) ? null : foi.value?.outcome.slow;
    return [
        ...(slow
            ? [
                  `${upper(slow.says)}: what that takes again and again is typical, and not in this picture.`,
              ]
            : []),
        ...(isOfCalls(mapOf.value) && choosesExecutions(filter.value)
            ? ["All calls there and then count, not only those in executions that pass."]
            : []),
        ...(n_bounds ? [`${plural(n_bounds, "execution")} cost at most what is shown.`] : []),
        ...(unknown ? [unknown] : []),
    ];
}

function figureOf(of: Shape, what: string, canvas: HTMLCanvasElement): Picture {
    const [left, right, high] = [76, 700, Math.min(460, Math.max(80, of.rows.length * 14))];
    const pen = newPen();
    const colours = inks();
    pen.insert(
        `<image x="${left}" width="${right - left}" height="${high}" preserveAspectRatio="none" image-rendering="pixelated" href="${canvas.toDataURL()}"/>`,
    );
    pen.strokeStyle = colours.line;
    pen.strokeRect(left, 0, right - left, high);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = colours.dim;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const every = Math.ceil((of.rows.length * 14) / high);
    const isInOrder = mapOrder.value === "rank" || every === 1;
    for (let i = 0; isInOrder && i < of.rows.length; i += every)
        pen.fillText(shortName(of.rows[i]), left - 6, ((i + 0.5) * high) / of.rows.length);
    const { begin_ns: begin, end_ns: end, highest_ns } = of.map;
    const axis = { begin, end, left, right, y: high, title: "time since the start" };
    drawTimeAxis(pen, axis, colours);
    const isSome = highest_ns > 0;
    return {
        width: right,
        height: high + timeAxisHeight,
        content: pen.toString(),
        about: `${what}, ${plural(of.rows.length, "lane")}${mapOrder.value === "most" ? ", most first" : ""}`,
        keys: isSome
            ? keyShares.map((share) => ({
                  colour: css(onWhite(opacityOf(share))),
                  text: `${formatTime(share * highest_ns)} in ${formatTime((end - begin) / of.map.width)}`,
              }))
            : [],
        notes: [...(isSome ? [] : ["There is none."]), ...notesOf(of.map)],
    };
}

/* What stands at a place of the map, for the pointer and for the keys. */
function words(of: Shape, cell: Cell): string {
    const location = rankAt(of, cell);
    const [from, until] = rowsOfPixel(cell.row, of.pixels, of.rows.length);
    const many = until - from > 1 ? `the most of ${plural(until - from, "lane")}: ` : "";
    return (
        `${many}${nameOfLocation(location)}, ${formatTime(timeOf(of, cell.column))} to ${formatTime(timeOf(of, cell.column + 1))}: ` +
        `about ${formatTime(cellNs(of.map, location, cell.column))}; ${formatTime(of.map.total_ns[location])} in all`
    );
}

/* Shares of the picture, as style. */
function placeOf(top: number, left: number, height: number, wide: number) {
    const percent = (x: number) => `${100 * x}%`;
    return {
        top: percent(top),
        left: percent(left),
        height: percent(height),
        width: percent(wide),
    };
}

/* Where the selected execution is, and what the timeline shows. */
function Marks({ of }: { of: Shape }) {
    const { map, rows } = of;
    const share = (ns: number) =>
        Math.min(Math.max((ns - map.begin_ns) / (map.end_ns - map.begin_ns), 0), 1);
    const it = shownNow();
    const all = executions.value;
    const row = it ? rows.indexOf(it.location) : -1;
    const now = windowShown.value;
    return (
        <>
            {now && (
                <span
                    class="map-window"
                    style={placeOf(0, share(now.begin), 1, share(now.end) - share(now.begin))}
                />
            )}
            {it && all && selected.value === it.tree && row >= 0 && (
                <span
                    class="map-selected"
                    style={placeOf(
                        row / rows.length,
                        share(it.enter_ns),
                        1 / rows.length,
                        share(it.exit_ns) - share(it.enter_ns),
                    )}
                />
            )}
        </>
    );
}

/* The cell at the pointer, or an area that is drawn. */
function Shade({ of, ends: [a, b] }: { of: Shape; ends: [Cell, Cell] }) {
    return (
        <span
            class="map-area"
            style={placeOf(
                Math.min(a.row, b.row) / of.pixels,
                Math.min(a.column, b.column) / of.map.width,
                (Math.abs(a.row - b.row) + 1) / of.pixels,
                (Math.abs(a.column - b.column) + 1) / of.map.width,
            )}
        />
    );
}

/* What is at the pointer; without one, what colours mean. */
function Legend({ of, what, cell }: { of: Shape; what: string; cell: Cell | null }) {
    const { map } = of;
    const length = formatTime((map.end_ns - map.begin_ns) / map.width);
    const said = cell
        ? words(of, cell)
        : map.highest_ns > 0
          ? `Colour: ${what}, in each ${length} of a lane.`
          : `No ${what}${map.not_known?.executions ? " that is known" : ""}.`;
    return (
        <div class="legend map-legend">
            <span aria-live="polite" title={said}>
                {said}
            </span>
            {map.highest_ns > 0 && (
                <span class="map-keys" aria-hidden="true">
                    {keyShares.map((share) => (
                        <span>
                            <i style={{ background: shadeOf(share) }} />
                            {formatTime(share * map.highest_ns)}
                        </span>
                    ))}
                </span>
            )}
            {notesOf(map).map((note) => (
                <span>{note}</span>
            ))}
        </div>
    );
}

/* The lanes that were asked for and pass the filter, in their order. */
function MapOfLanes({ map }: { map: RankMap }) {
    const rows = useMemo(() => {
        const { locations } = run.value!;
        const kept = mapRanks.value
            ? (readLanes(mapRanks.value, locations, Infinity) ?? [])
            : lanesOf(locations, map.total_ns);
        const left = lanesLeft.value && new Set(lanesLeft.value);
        const passing = left ? kept.filter((id) => left.has(id)) : kept;
        return orderRows(passing, map.total_ns, mapOrder.value === "most");
    }, [map, mapRanks.value, mapOrder.value, lanesLeft.value]);
    if (!rows.length)
        return (
            <Empty>
                {mapRanks.value
                    ? "None of these ranks has a lane that passes the filter."
                    : "No lane of the map passes the filter."}
            </Empty>
        );
    return <MapPicture map={map} rows={rows} />;
}

function MapPicture({ map, rows }: { map: RankMap; rows: number[] }) {
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const { cell, now: cellNow, set: setCell } = useCell();
    const [drag, setDrag] = useState<[Cell, Cell] | null>(null);
    const pixels = size.height && pixelRows(rows.length, size.height * size.ratio);
    const of: Shape = { map, rows, pixels };
    const rgba = () => {
        performance.mark("map-drawn");
        return mapPixels(map, rows, pixels, anomalyColour);
    };
    const what = nameOf(mapOf.value);
    usePicture("map", () => figureOf(of, what, box.current!.querySelector("canvas")!));
    useTable("map", () => ({
        head: [
            "location",
            "rank",
            "thread",
            `${mapOf.value in names ? mapOf.value : "total"}_ns`,
        ],
        rows: rows.map((id) => {
            const at = run.value!.locations.find((l) => l.id === id)!;
            return [id, at.rank, at.thread, map.total_ns[id]];
        }),
    }));
    const at = ({ x, y }: Point) => cellAt(pixels, map.width, x, y);
    const dragFrom = (from: Point) => ({
        to: (now: Point) => setDrag([at(from), at(now)]),
        end: (now: Point) => {
            setDrag(null);
            const [a, b] = [at(from), at(now)];
            if (a.row === b.row && a.column === b.column) return false;
            showArea(of, a, b);
        },
    });
    const key = (event: KeyboardEvent) => {
        const step = cellSteps[event.key];
        const now = () => {
            const { row, column } = cellNow() ?? { row: 0, column: 0 };
            return at({ x: column, y: row }); /* there may be fewer lanes by now */
        };
        if (event.key === "Enter") return () => showCell(of, now());
        return (
            step && (() => setCell(at({ x: now().column + step[1], y: now().row + step[0] })))
        );
    };
    const known = cell && cell.row < pixels ? cell : null;
    return (
        <>
            <HeatPicture
                rows={pixels}
                columns={map.width}
                box={box}
                of={[map, rows]}
                rgba={rgba}
                ends={[shortName(rows[0]), shortName(rows[rows.length - 1])]}
                across={[map.begin_ns, map.end_ns]}
                label={`Map of ${what}`}
                hover={setCell}
                choose={(chosen) => showCell(of, chosen)}
                drag={dragFrom}
                keys={key}
                role="group"
                name={`${what} on ${plural(rows.length, "lane")} over time; arrow keys move, Enter shows the lane in the timeline`}
            >
                <Marks of={of} />
                {known && <Shade of={of} ends={drag ?? [known, known]} />}
            </HeatPicture>
            <Legend of={of} what={what} cell={known} />
        </>
    );
}

export function RankMapView() {
    const id = foi.value?.id;
    const of = mapOf.value;
    const isOfPlaces = isOfCalls(of);
    const asked = isOfPlaces ? placesNow.value : filterNow.value;
    const map = useQuery<RankMap>(
        id === undefined ? null : `map ${id} ${of} ${asked}`,
        (abort) => loadMap(of, asked, abort),
        isOfPlaces ? "" : filterVersion.value,
    );
    return (
        <Panel name="map" tools={<Tools />}>
            <Await of={map} what="the map" empty="There is nothing to show.">
                {(found) =>
                    of === "lost" && isFew.value ? (
                        <Empty>
                            Too few executions to say what is typical: what was lost is not
                            known.{" "}
                            <button onClick={() => (mapOf.value = "waiting")}>
                                Show time in MPI
                            </button>
                        </Empty>
                    ) : (
                        <MapOfLanes map={found} />
                    )
                }
            </Await>
        </Panel>
    );
}
