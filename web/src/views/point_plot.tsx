// Points of a run, and of a program that is live: the wheel zooms, dragging pans, a click chooses one and, where many can be
// chosen, a line drawn around them with the lasso or Shift. Points lie on one canvas; axes, that line and rings lie on a
// second one above it, which is redrawn far more often.
import { Signal } from "@preact/signals";
import { zoomIdentity, ZoomTransform } from "d3-zoom";
import { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Axis } from "../canvas/axis";
import { Centre, centreOfView, Plot, transformTo } from "../canvas/centre";
import { Key } from "../canvas/figure";
import { PointGrid } from "../canvas/grid";
import { Line, pointsInside } from "../canvas/lasso";
import { Pieces } from "../canvas/pieces";
import { makePainter, Painter, Points, PointScene, View } from "../canvas/points";
import { Pen } from "../canvas/svg_pen";
import { outlineColour } from "../format/palette";
import { Attribute, theme } from "../state/store";
import { Canvas, fitCanvas, Point } from "./canvas";
import { inks } from "./inks";
import { usePicture } from "./pictures";
import { drawAxes, drawRings } from "./scatter_overlay";
import { pointsPicture } from "./scatter_picture";
import { usePlane } from "./use_plane";
import { useSize } from "./use_size";

const margin = { left: 54, bottom: 38, top: 15, right: 15 }; /* a point, with its ring */
const reach = 14; /* pixels around the pointer in which a point is found */

/* In the time line of the browser's own tools, and for e2e/measure.mjs. */
const told = new Set<string>();
function tellOnce(name: string): void {
    if (!told.has(name)) performance.mark(name);
    told.add(name);
}

function viewOf(plot: Plot, transform: ZoomTransform): View {
    return {
        scaleX: plot.width * transform.k,
        scaleY: plot.height * transform.k,
        x: plot.left * transform.k + transform.x / plot.scale,
        y: plot.top * transform.k + transform.y / plot.scale,
    };
}

/* Where on the plane, 0..1 from the left and from below, a pixel is. */
function planeAt(view: View, x: number, y: number): [number, number] {
    return [(x - view.x) / view.scaleX, 1 - (y - view.y) / view.scaleY];
}

/* What draws the points. A graphics unit may take its memory back: then all is uploaded again. */
function usePainter(drawAgain: () => void) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const painter = useRef<Painter | null>(null);
    const scene = useRef<PointScene | null>(null);
    const pieces = useRef<Pieces | null>(null);
    useLayoutEffect(() => {
        const element = canvas.current!;
        const renew = () => (painter.current = makePainter(element));
        renew();
        const lost = (event: Event) => event.preventDefault();
        const restored = () => {
            renew();
            drawAgain();
        };
        element.addEventListener("webglcontextlost", lost);
        element.addEventListener("webglcontextrestored", restored);
        pieces.current = new Pieces(
            (from, to) => {
                if (scene.current) painter.current?.draw(scene.current, from, to);
                tellOnce("points-first");
            },
            () => tellOnce("points-all"),
        );
        return () => {
            element.removeEventListener("webglcontextlost", lost);
            element.removeEventListener("webglcontextrestored", restored);
            pieces.current?.stop();
            painter.current?.release();
        };
    }, []);
    return { canvas, painter, scene, pieces };
}

interface PlotProps {
    points: Points; /* 0..1, from the left and from below */
    axes: {
        of: [Axis, Axis];
        names: [Attribute, Attribute];
    } | null; /* null: they mean nothing */
    chosen: Uint32Array | null; /* many, with a ring each */
    selected: number | null;
    label: string;
    says?: (row: number) => ComponentChildren;
    select: (row: number) => void;
    lasso?: { isOn: Signal<boolean>; choose: (rows: Uint32Array) => void };
    zoomed?: Signal<Centre | null>;
    figure?: () => { rgba: Uint8Array; keys: Key[]; notes: string[] }; /* on paper */
}

export function PointPlot(props: PlotProps) {
    const { points, axes, chosen, selected, lasso, zoomed } = props;
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const [line, setLine] = useState<Line | null>(null); /* pixels */
    const movedTo = useRef<ZoomTransform | null>(null);
    const appliedZoom = useRef<Centre | null>(null);
    const isLasso = (event: MouseEvent) => !!lasso && (event.shiftKey || lasso.isOn.value);
    const isDark = theme.value === "dark";

    const [left, bottom] = axes ? [margin.left, margin.bottom] : [margin.right, margin.top];
    const plot: Plot = {
        left,
        top: margin.top,
        scale: size.scale,
        width: Math.max(1, size.width - left - margin.right),
        height: Math.max(1, size.height - margin.top - bottom),
    };
    const { transform, moveTo, mover, movable, setTransform } = usePlane(size, {
        // What is in the middle, and how large: with that a link fits windows of any size.
        ended: (to) => {
            if (!size.width || !zoomed) return;
            zoomed.value =
                to.k === 1 && to.x === 0 && to.y === 0 ? null : centreOfView(to, plot);
            appliedZoom.current = zoomed.value;
        },
        isTaken: isLasso,
    });
    const drawn = usePainter(() => setTransform((t) => new ZoomTransform(t.k, t.x, t.y)));
    const view = viewOf(plot, transform);

    useLayoutEffect(() => {
        if (!size.width) return;
        fitCanvas(drawn.canvas.current!, size);
        drawn.painter.current?.set(points);
        const { width, height, ratio } = size;
        drawn.scene.current = {
            view,
            width,
            height,
            ratio,
            outline: outlineColour[isDark ? "dark" : "light"],
        };
        drawn.pieces.current?.restart(points.firstKept, movedTo.current !== transform);
        movedTo.current = transform;
    }, [points, transform, size, isDark]);

    const wantedZoom = zoomed?.value;
    useEffect(() => {
        const wanted =
            zoomed?.peek() ?? null; /* keys may have moved it on since this was drawn */
        if (!size.width || wanted === appliedZoom.current) return;
        appliedZoom.current = wanted;
        moveTo(wanted ? transformTo(wanted, plot) : zoomIdentity);
    }, [wantedZoom, size]);

    const drawOver = (pen: Pen, rgba: Uint8Array) => {
        const colours = inks();
        if (axes) drawAxes(pen, axes.of, axes.names, view, { ...size, left, bottom }, colours);
        const toX = (row: number) => points.x[row] * view.scaleX + view.x;
        const toY = (row: number) => (1 - points.y[row]) * view.scaleY + view.y;
        drawRings(pen, chosen, selected, toX, toY, rgba, colours);
    };
    const drawAll = (pen: CanvasRenderingContext2D) => {
        drawOver(pen, points.rgba);
        if (!line) return;
        pen.beginPath();
        for (const [x, y] of line) pen.lineTo(x, y);
        pen.setLineDash([4, 3]);
        pen.strokeStyle = inks().ink;
        pen.stroke();
        pen.setLineDash([]);
    };
    const { figure } = props;
    usePicture(
        "overview",
        figure &&
            (() => {
                drawn.pieces.current?.finish();
                const { rgba, ...said } = figure();
                const scene = { view, ...size, outline: outlineColour.light };
                const over = (pen: Pen) => drawOver(pen, rgba);
                const canvas = drawn.canvas.current;
                return { ...pointsPicture({ ...points, rgba }, scene, canvas, over), ...said };
            }),
    );

    // Made when the pointer first needs it: moving points would pay for it 60 times a second.
    const grid = useMemo(() => {
        let made: PointGrid | null = null;
        return () => (made ??= new PointGrid(points.x, points.y, points.order));
    }, [points.x, points.y, points.order]);
    const find = ({ x, y }: Point) =>
        grid().nearest(...planeAt(view, x, y), reach / view.scaleX, reach / view.scaleY);
    const enclose = (from: Point, of: NonNullable<typeof lasso>) => {
        const around: Line = [[from.x, from.y]];
        return {
            to: ({ x, y }: Point) => {
                around.push([x, y]);
                setLine([...around]);
            },
            end: () => {
                setLine(null);
                const on = around.map(([x, y]) => planeAt(view, x, y));
                const rows = pointsInside(on, points.x, points.y, points.order);
                if (around.length < 4 || !rows.length) return;
                of.isOn.value = false;
                of.choose(rows);
            },
        };
    };
    const says = (at: Point) => {
        const row = line ? -1 : find(at);
        return row < 0 ? null : props.says!(row);
    };
    return (
        <Canvas
            box={box}
            size={size}
            class="scatter"
            canvasClass={lasso?.isOn.value ? "lasso" : ""}
            label={props.label}
            of={[points, transform, line, chosen, selected, theme.value]}
            draw={drawAll}
            says={props.says && says}
            choose={(at, event) => {
                const row = isLasso(event) ? -1 : find(at);
                if (row >= 0) props.select(row);
            }}
            drag={(from, event) => (lasso && isLasso(event) ? enclose(from, lasso) : null)}
            mover={mover}
            movable={movable}
            under={<canvas ref={drawn.canvas} aria-hidden="true" />}
        />
    );
}
