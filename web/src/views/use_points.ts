// What scatter plots have in common, of a run and of a program that is live. Points lie on one canvas, what is drawn
// above them on a second one, which is redrawn far more often; there the wheel zooms, dragging pans, and so do keys.
import { select as selectElement } from "d3-selection";
import { zoom, zoomIdentity, ZoomBehavior, zoomTransform, ZoomTransform } from "d3-zoom";
import { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Plot } from "../canvas/centre";
import { PointGrid } from "../canvas/grid";
import { makePainter, Painter, View } from "../canvas/points";
import { Rgb } from "../format/colour";
import { Movable, offerMovable } from "../state/keys";
import { cssColour, Size } from "./use_canvas";

const reach = 14; /* pixels around the pointer in which a point is found */

export interface Margin {
    left: number;
    top: number;
    right: number;
    bottom: number;
}

export function plotOf(size: Size, { left, top, right, bottom }: Margin): Plot {
    return {
        left,
        top,
        scale: size.scale,
        width: Math.max(1, size.width - left - right),
        height: Math.max(1, size.height - top - bottom),
    };
}

export function viewOf(plot: Plot, transform: ZoomTransform): View {
    return {
        scaleX: plot.width * transform.k,
        scaleY: plot.height * transform.k,
        x: plot.left * transform.k + transform.x / plot.scale,
        y: plot.top * transform.k + transform.y / plot.scale,
    };
}

/* Where on the plane, 0..1 from the left and from below, a pixel is. */
export function planeAt(view: View, x: number, y: number): [number, number] {
    return [(x - view.x) / view.scaleX, 1 - (y - view.y) / view.scaleY];
}

/* The point at a pixel; -1: none is near. */
export function pointNear(grid: PointGrid, view: View, x: number, y: number): number {
    const [atX, atY] = planeAt(view, x, y);
    return grid.nearest(atX, atY, reach / view.scaleX, reach / view.scaleY);
}

export function outlineOf(isDark: boolean): Rgb {
    return isDark ? [255, 255, 255] : [20, 20, 20];
}

export function inksOf() {
    return { ink: cssColour("--ink"), dim: cssColour("--dim"), paper: cssColour("--panel") };
}

interface OnZoom {
    moved: () => void;
    ended?: (to: ZoomTransform) => void;
    isTaken?: (event: MouseEvent) => boolean; /* dragging is something else now */
}

export function useZoom(canvas: RefObject<HTMLCanvasElement>, size: Size, on: OnZoom) {
    const [transform, setTransform] = useState<ZoomTransform>(zoomIdentity);
    const behaviour = useRef<ZoomBehavior<HTMLCanvasElement, unknown> | null>(null);
    const movable = useRef<Movable>({ zoom: () => {}, pan: () => {}, fit: () => {} });
    const now = useRef(on);
    now.current = on;

    const element = () => selectElement(canvas.current!);
    const moveTo = (to: ZoomTransform) => element().call(behaviour.current!.transform, to);
    Object.assign(movable.current, {
        zoom: (factor: number) => element().call(behaviour.current!.scaleBy, factor),
        pan: (share: number) =>
            element().call(
                behaviour.current!.translateBy,
                (-share * size.width * size.scale) / zoomTransform(canvas.current!).k,
                0,
            ),
        fit: () => moveTo(zoomIdentity),
    });

    useEffect(() => {
        behaviour.current = zoom<HTMLCanvasElement, unknown>()
            .scaleExtent([0.5, 20000])
            .filter(
                (event) =>
                    event.type === "wheel" || (!event.button && !now.current.isTaken?.(event)),
            )
            .on("zoom", (event) => {
                setTransform(event.transform);
                now.current.moved();
            })
            .on("end", (event) => now.current.ended?.(event.transform));
        const zoomed = element();
        zoomed.call(behaviour.current).on("dblclick.zoom", null);
        const withdraw = offerMovable(movable.current);
        return () => {
            withdraw();
            zoomed.on(".zoom", null);
        };
    }, []);

    const drawAgain = () => setTransform((t) => new ZoomTransform(t.k, t.x, t.y));
    return { transform, moveTo, movable, drawAgain };
}

/* What draws points on a canvas. A graphics unit may take its memory back: then all is uploaded again. */
export function usePainter(
    canvas: RefObject<HTMLCanvasElement>,
    drawAgain: () => void,
): RefObject<Painter> {
    const painter = useRef<Painter | null>(null);
    useEffect(() => {
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
        return () => {
            element.removeEventListener("webglcontextlost", lost);
            element.removeEventListener("webglcontextrestored", restored);
            painter.current?.release();
        };
    }, []);
    return painter;
}
