// The points of the overview and what one does with the mouse there: wheel to zoom, drag to pan,
// click to select, drag with the lasso (or Shift) to choose many. Points lie on one canvas; axes,
// the line of the lasso and rings lie on a second one above it, which is redrawn far more often.
import { computed, signal } from "@preact/signals";
import { zoomIdentity, ZoomTransform } from "d3-zoom";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Axis, makeAxis, spreadOut } from "../canvas/axis";
import { Centre, centreOfView, transformTo } from "../canvas/centre";
import { PointGrid } from "../canvas/grid";
import { Line, pointsInside } from "../canvas/lasso";
import { exitTimes } from "../canvas/live_points";
import { Pieces } from "../canvas/pieces";
import { PointScene } from "../canvas/points";
import { sample } from "../canvas/sampling";
import { Pen } from "../canvas/svg_pen";
import { executionId } from "../format/ids";
import { formatCount, formatScore, formatTime, plural } from "../format/units";
import { centreOf, select, selectLasso } from "../state/actions";
import { pointAt } from "../state/keys";
import {
    Attribute,
    colourBy,
    details,
    Details,
    Executions,
    lassoed,
    plane,
    planeShown,
    sampling,
    selected,
    theme,
    xAttribute,
    yAttribute,
    zoomed,
} from "../state/store";
import { HoverBox } from "./hover_box";
import { colourPoints } from "./point_colours";
import { usePicture } from "./pictures";
import { drawAxes, drawRings } from "./scatter_overlay";
import { pointKeys, pointsPicture, projectionNote } from "./scatter_picture";
import { fitCanvas, pointerAt, Size, useSize } from "./use_canvas";
import {
    inksOf,
    outlineOf,
    planeAt,
    plotOf,
    pointNear,
    usePainter,
    useZoom,
    viewOf,
} from "./use_points";

export const isLassoOn = signal(false);
export const hiddenPoints = signal(0);

/* In the time line of the browser's own tools, and for e2e/measure.mjs. */
const told = new Set<string>();
function tellOnce(name: string): void {
    if (!told.has(name)) performance.mark(name);
    told.add(name);
}

const needsDetails = computed(
    () =>
        planeShown.value === "attributes" &&
        [xAttribute.value, yAttribute.value].some((a) => isDetail(a)),
);

export function isDetail(attribute: Attribute): boolean {
    return attribute === "rank" || attribute === "messages" || attribute === "vertices";
}

const margin = { left: 54, bottom: 26, top: 15, right: 15 }; /* a point, with its ring */

interface Places {
    x: Float32Array;
    y: Float32Array;
    axes: [Axis, Axis] | null; /* null: the axes of a projection mean nothing */
}

function place(all: Executions, more: Details | null): Places {
    const projected = planeShown.value === "attributes" ? null : plane.value;
    const valuesOf = (attribute: Attribute): ArrayLike<number> =>
        attribute === "exit_ns"
            ? exitTimes(all)
            : attribute in all
              ? all[attribute as keyof Executions & Attribute]
              : (more?.[attribute as keyof Details & Attribute] ?? new Float32Array(all.n));
    const x = projected ? projected.x : valuesOf(xAttribute.value);
    const y = projected ? projected.y : valuesOf(yAttribute.value);
    const axes: [Axis, Axis] = [makeAxis(x, !projected), makeAxis(y, !projected)];
    return {
        x: spreadOut(x, axes[0]),
        y: spreadOut(y, axes[1]),
        axes: projected ? null : axes,
    };
}

function Hover(props: { all: Executions; tree: number; x: number; y: number; size: Size }) {
    const { all, tree } = props;
    const more = details.value;
    return (
        <HoverBox {...props}>
            {more && <b>{executionId(more.rank[tree], more.thread[tree], more.index[tree])}</b>}{" "}
            {formatTime(all.duration_ns[tree])}
            {all.runOf && `, ${all.runOf(tree)}`}
            <br />
            score {formatScore(all.score[tree])}, {all.verdict[tree] ? "anomaly" : "normal"}
            {all.label[tree] !== 0 &&
                `, labelled ${all.label[tree] > 0 ? "abnormal" : "normal"}`}
            <br />
            {more &&
                `${formatCount(more.messages[tree])} messages, ${formatCount(more.vertices[tree])} calls`}
        </HoverBox>
    );
}

/* label: what it is, for those who cannot see it. */
export function Scatter({ all, label }: { all: Executions; label?: string }) {
    const box = useRef<HTMLDivElement>(null);
    const pointCanvas = useRef<HTMLCanvasElement>(null);
    const overCanvas = useRef<HTMLCanvasElement>(null);
    const [line, setLine] = useState<Line | null>(null); /* pixels */
    const [hover, setHover] = useState<{ tree: number; x: number; y: number } | null>(null);
    const pieces = useRef<Pieces | null>(null);
    const movedTo = useRef<ZoomTransform | null>(null);
    const scene = useRef<PointScene | null>(null);
    const size = useSize(box);
    const keepZoom = useRef<(to: ZoomTransform) => void>(() => undefined);
    const { transform, moveTo, movable, drawAgain } = useZoom(overCanvas, size, {
        moved: () => setHover(null),
        ended: (to) => keepZoom.current(to),
        isTaken: (event) => event.shiftKey || isLassoOn.value,
    });
    const painter = usePainter(pointCanvas, drawAgain);

    const isDark = theme.value === "dark";
    const places = useMemo(
        () => place(all, details.value),
        [
            all.enter_ns,
            all.score,
            needsDetails.value && details.value,
            planeShown.value,
            plane.value,
            xAttribute.value,
            yAttribute.value,
        ],
    );
    const rgba = useMemo(
        () => colourPoints(all, details.value, colourBy.value, isDark),
        [all, colourBy.value, colourBy.value === "rank" && details.value, isDark],
    );
    const sampled = useMemo(() => {
        const chosen = new Set<number>(lassoed.value ?? []);
        return sample(all.verdict, all.label, sampling.value, chosen);
    }, [all.verdict, all.label, sampling.value, lassoed.value]);
    // Made when the pointer first needs it: moving points would pay for it 60 times a second.
    const grid = useMemo(() => {
        let made: PointGrid | null = null;
        return () => (made ??= new PointGrid(places.x, places.y, sampled.order));
    }, [places, sampled]);

    const left = places.axes ? margin.left : margin.right;
    const bottom = places.axes ? margin.bottom : margin.top;
    const plot = plotOf(size, { ...margin, left, bottom });
    const view = viewOf(plot, transform);
    const toX = (tree: number) => places.x[tree] * view.scaleX + view.x;
    const toY = (tree: number) => (1 - places.y[tree]) * view.scaleY + view.y;
    useEffect(() => {
        hiddenPoints.value = sampled.hidden;
    }, [sampled]);

    useEffect(() => {
        pieces.current = new Pieces(
            (from, to) => {
                if (scene.current) painter.current?.draw(scene.current, from, to);
                tellOnce("points-first");
            },
            () => tellOnce("points-all"),
        );
        return () => pieces.current?.stop();
    }, []);

    useEffect(() => {
        if (!size.width) return;
        fitCanvas(pointCanvas.current!, size);
        painter.current?.set({
            ...places,
            rgba,
            order: sampled.order,
            firstKept: sampled.firstKept,
        });
        const { width, height, ratio } = size;
        scene.current = { view, width, height, ratio, outline: outlineOf(isDark) };
        pieces.current?.restart(sampled.firstKept, movedTo.current !== transform);
        movedTo.current = transform;
    }, [places, rgba, sampled, transform, size, isDark]);

    const colours = useMemo(inksOf, [isDark]);
    const drawOver = (pen: Pen, of: Uint8Array, paint: typeof colours) => {
        if (places.axes)
            drawAxes(
                pen,
                places.axes,
                [xAttribute.value, yAttribute.value],
                view,
                { ...size, left, bottom },
                paint,
            );
        drawRings(pen, lassoed.value, selected.value, toX, toY, of, paint);
    };
    usePicture("overview", () => {
        pieces.current?.finish();
        const onPaper = colourPoints(all, details.value, colourBy.value, false);
        const { order, firstKept } = sampled;
        const hidden = plural(sampled.hidden, "normal execution");
        return {
            ...pointsPicture(
                { ...places, rgba: onPaper, order, firstKept },
                { view, ...size, outline: outlineOf(false) },
                pointCanvas.current!,
                (pen) => drawOver(pen, onPaper, inksOf()),
            ),
            keys: pointKeys(colourBy.value, all, selected.value !== null),
            notes: [
                ...(places.axes ? [] : [projectionNote(planeShown.value)]),
                ...(colourBy.value === "rank"
                    ? ["A colour is a rank; several share one."]
                    : []),
                ...(sampled.hidden ? [`${hidden} of ${formatCount(all.n)} not drawn.`] : []),
            ],
        };
    });

    useEffect(() => {
        if (!size.width) return;
        const canvas = overCanvas.current!;
        fitCanvas(canvas, size);
        const context = canvas.getContext("2d")!;
        context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
        context.clearRect(0, 0, size.width, size.height);
        drawOver(context, rgba, colours);
        if (line) {
            context.beginPath();
            for (const [x, y] of line) context.lineTo(x, y);
            context.setLineDash([4, 3]);
            context.strokeStyle = colours.ink;
            context.stroke();
            context.setLineDash([]);
        }
    }, [places, transform, size, line, lassoed.value, selected.value, theme.value]);

    // What is in the middle, and how large: with that a link fits windows of any size.
    keepZoom.current = (to) => {
        if (!size.width) return;
        const at = centreOfView(to, plot);
        zoomed.value = to.k === 1 && to.x === 0 && to.y === 0 ? null : at;
        appliedZoom.current = zoomed.value;
    };
    const appliedZoom = useRef<Centre | null>(null);
    const wantedZoom = zoomed.value;
    useEffect(() => {
        const wanted = zoomed.peek(); /* keys may have moved it on since this was drawn */
        if (!size.width || wanted === appliedZoom.current) return;
        appliedZoom.current = wanted;
        moveTo(wanted ? transformTo(wanted, plot) : zoomIdentity);
    }, [wantedZoom, size]);

    const find = (x: number, y: number) => pointNear(grid(), view, x, y);
    const at = (event: MouseEvent) => pointerAt(event, overCanvas.current!, size);
    const begin = (event: PointerEvent) => {
        if (!(event.shiftKey || isLassoOn.value) || event.button !== 0) return;
        overCanvas.current!.setPointerCapture(event.pointerId);
        setLine([at(event)]);
    };
    const move = (event: PointerEvent) => {
        pointAt(movable.current);
        const [x, y] = at(event);
        if (line) return setLine([...line, [x, y]]);
        if (event.buttons) return;
        const tree = find(x, y);
        setHover(tree < 0 ? null : { tree, x, y });
    };
    const end = () => {
        if (!line) return;
        setLine(null);
        const trees = pointsInside(
            line.map(([x, y]) => planeAt(view, x, y)),
            places.x,
            places.y,
            sampled.order,
        );
        if (line.length < 4 || !trees.length) return;
        isLassoOn.value = false;
        selectLasso(trees, centreOf(trees, places.x, places.y));
    };
    const click = (event: MouseEvent) => {
        if (event.shiftKey || isLassoOn.value) return;
        const tree = find(...at(event));
        if (tree >= 0) select(tree);
    };

    return (
        <div class="scatter" ref={box}>
            <canvas ref={pointCanvas} aria-hidden="true" />
            <canvas
                ref={overCanvas}
                class={isLassoOn.value ? "lasso" : ""}
                role="img"
                aria-label={
                    label ??
                    `${formatCount(all.n)} executions as points; the executions on the left are the same as a list`
                }
                onPointerDown={begin}
                onPointerMove={move}
                onPointerUp={end}
                onPointerLeave={() => setHover(null)}
                onClick={click}
            />
            {hover && !line && <Hover all={all} {...hover} size={size} />}
        </div>
    );
}
