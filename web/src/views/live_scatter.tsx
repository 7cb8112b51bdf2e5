// Points of a program that is live: as the overview of a run, but they come and go, and a click
// asks for the record of the call.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { makeAxis, spreadOut } from "../canvas/axis";
import { PointGrid } from "../canvas/grid";
import { LivePoints } from "../canvas/live_points";
import { sample } from "../canvas/sampling";
import { regionColour } from "../format/colour";
import { formatCount, formatScore, formatTime } from "../format/units";
import { pointAt } from "../state/keys";
import {
    colourChosen,
    lookAt,
    looked,
    nameOfRegion,
    samplingChosen,
    windowNs,
    xChosen,
    yChosen,
} from "../state/live";
import { Attribute, theme } from "../state/store";
import { HoverBox } from "./hover_box";
import { colourPoints } from "./point_colours";
import { drawAxes, drawRings } from "./scatter_overlay";
import { fitCanvas, pointerAt, useSize } from "./use_canvas";
import {
    inksOf,
    outlineOf,
    plotOf,
    pointNear,
    usePainter,
    useZoom,
    viewOf,
} from "./use_points";

const margin = { left: 54, bottom: 26, top: 8, right: 8 };
const nobody: ReadonlySet<number> = new Set();

function colours(all: LivePoints, isDark: boolean): Uint8Array {
    const by = colourChosen.value;
    const rgba = colourPoints(all, all, by === "region" ? "verdict" : by, isDark);
    if (by !== "region") return rgba;
    const of = new Map<number, number[]>();
    for (let i = 0; i < all.n; i++) {
        if (all.verdict[i]) continue;
        const region = all.region[i];
        if (!of.has(region)) of.set(region, regionColour(nameOfRegion(region)));
        rgba.set(of.get(region)!, 4 * i);
    }
    return rgba;
}

/* Rows that are drawn; when a window is chosen, the newest only. */
function drawn(all: LivePoints) {
    const { order, firstKept, hidden } = sample(
        all.verdict,
        all.label,
        samplingChosen.value,
        nobody,
    );
    if (windowNs.value === null) return { order, firstKept, hidden };
    let end = 0;
    for (let i = 0; i < all.n; i++) end = Math.max(end, all.enter_ns[i]);
    const isIn = (row: number) => all.enter_ns[row] >= end - windowNs.value!;
    const normal = order.subarray(0, firstKept).filter(isIn);
    const kept = order.subarray(firstKept).filter(isIn);
    const both = new Uint32Array(normal.length + kept.length);
    both.set(normal);
    both.set(kept, normal.length);
    return { order: both, firstKept: normal.length, hidden: all.n - both.length };
}

/* A time of the run: what comes late in it is not rare. */
const isMoment = (name: Attribute) => name === "enter_ns" || name === "exit_ns";

function pick(values: ArrayLike<number>, rows: Uint32Array): ArrayLike<number> {
    return rows.length ? Float64Array.from(rows, (row) => values[row]) : values;
}

export function LiveScatter({ all }: { all: LivePoints }) {
    const box = useRef<HTMLDivElement>(null);
    const pointCanvas = useRef<HTMLCanvasElement>(null);
    const overCanvas = useRef<HTMLCanvasElement>(null);
    const [hover, setHover] = useState<{ row: number; x: number; y: number } | null>(null);
    const size = useSize(box);
    const { transform, movable, drawAgain } = useZoom(overCanvas, size, {
        moved: () => setHover(null),
    });
    const painter = usePainter(pointCanvas, drawAgain);
    const isDark = theme.value === "dark";
    const [xName, yName] = [xChosen.value, yChosen.value];

    const chosen = useMemo(() => drawn(all), [all, samplingChosen.value, windowNs.value]);
    const places = useMemo(() => {
        const [x, y] = [all[xName] as ArrayLike<number>, all[yName] as ArrayLike<number>];
        const axes = [
            makeAxis(pick(x, chosen.order), !isMoment(xName)),
            makeAxis(pick(y, chosen.order), !isMoment(yName)),
        ] as const;
        return { x: spreadOut(x, axes[0]), y: spreadOut(y, axes[1]), axes };
    }, [all, chosen, xName, yName]);
    const rgba = useMemo(() => colours(all, isDark), [all, colourChosen.value, isDark]);
    const grid = useMemo(() => {
        let made: PointGrid | null = null;
        return () => (made ??= new PointGrid(places.x, places.y, chosen.order));
    }, [places, chosen]);

    const view = viewOf(plotOf(size, margin), transform);

    useEffect(() => {
        if (!size.width) return;
        fitCanvas(pointCanvas.current!, size);
        painter.current?.set({ x: places.x, y: places.y, rgba, ...chosen });
        const scene = { view, ...size, outline: outlineOf(isDark) };
        painter.current?.draw(scene, 0, chosen.firstKept);
    }, [places, rgba, chosen, transform, size, isDark]);

    useEffect(() => {
        if (!size.width) return;
        const canvas = overCanvas.current!;
        fitCanvas(canvas, size);
        const context = canvas.getContext("2d")!;
        context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
        context.clearRect(0, 0, size.width, size.height);
        const inks = inksOf();
        drawAxes(
            context,
            [places.axes[0], places.axes[1]],
            [xName, yName],
            view,
            { ...size, left: margin.left, bottom: margin.bottom },
            inks,
        );
        const at = looked.value;
        const row = at
            ? all.enter_ns.findIndex(
                  (enter, i) =>
                      enter === at.enter_ns &&
                      all.rank[i] === at.rank &&
                      all.duration_ns[i] === at.duration_ns,
              )
            : -1;
        drawRings(
            context,
            null,
            row < 0 ? null : row,
            (i) => places.x[i] * view.scaleX + view.x,
            (i) => (1 - places.y[i]) * view.scaleY + view.y,
            rgba,
            inks,
        );
    }, [places, transform, size, looked.value, theme.value]);

    const find = (event: MouseEvent) => {
        const [x, y] = pointerAt(event, overCanvas.current!, size);
        const row = pointNear(grid(), view, x, y);
        return { row, x, y };
    };
    const click = (event: MouseEvent) => {
        const { row } = find(event);
        if (row >= 0) lookAt(row);
    };
    const move = (event: PointerEvent) => {
        if (event.buttons) return;
        const found = find(event);
        setHover(found.row < 0 ? null : found);
    };

    return (
        <div class="scatter" ref={box} onPointerMove={() => pointAt(movable.current)}>
            <canvas ref={pointCanvas} aria-hidden="true" />
            <canvas
                ref={overCanvas}
                role="img"
                aria-label={`${formatCount(all.n)} points; the records are the strange ones as a list`}
                onPointerMove={move}
                onPointerLeave={() => setHover(null)}
                onClick={click}
            />
            {hover && hover.row < all.n && (
                <HoverBox x={hover.x} y={hover.y} size={size}>
                    <b>{nameOfRegion(all.region[hover.row])}</b>
                    {all.kind[hover.row] === 1 &&
                        ` #${all.rank[hover.row]}-${all.index[hover.row]}`}{" "}
                    on rank {all.rank[hover.row]}
                    <br />
                    {formatTime(all.duration_ns[hover.row])}, score{" "}
                    {formatScore(all.score[hover.row])},{" "}
                    {all.verdict[hover.row]
                        ? "anomaly"
                        : all.isJudged[hover.row]
                          ? "normal"
                          : "not judged"}
                </HoverBox>
            )}
        </div>
    );
}
