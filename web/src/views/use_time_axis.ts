// What timelines have in common, of a run and of a record: where on the canvas a time is, and how the window is moved. The
// wheel zooms with Ctrl, and pans with Shift or to the side.
import { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { clampSpan, panSpan, Span, zoomSpan } from "../canvas/window";
import { pointerAt, Size } from "./use_canvas";

interface TimeAxis {
    left: number; /* units, before the axis begins */
    window: Span;
    whole: Span;
    set: (window: Span) => void;
}

export function useTimeAxis(canvas: RefObject<HTMLCanvasElement>, size: Size, axis: TimeAxis) {
    const { left, window, whole, set } = axis;
    const width = Math.max(1, size.width - left);
    const nsPerPixel = (window[1] - window[0]) / width;
    const timeAt = (x: number) => window[0] + (x - left) * nsPerPixel;
    const at = (event: MouseEvent) => pointerAt(event, canvas.current!, size);

    const wheel = useRef<(event: WheelEvent) => void>(() => undefined);
    wheel.current = (event) => {
        const isAside = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        if (event.ctrlKey || event.metaKey) {
            const factor = Math.exp(-event.deltaY * 0.004);
            set(zoomSpan(window, factor, timeAt(at(event)[0]), whole));
        } else if (isAside) {
            const moved = (event.deltaX || event.deltaY) / Math.max(1, size.width * size.scale);
            set(panSpan(window, moved, whole));
        } else return;
        event.preventDefault();
    };
    // Not passive: the wheel would scroll the page as well.
    useEffect(() => {
        const element = canvas.current;
        if (!element) return; /* there is nothing to draw */
        const listener = (event: WheelEvent) => wheel.current(event);
        element.addEventListener("wheel", listener, { passive: false });
        return () => element.removeEventListener("wheel", listener);
    }, [size.width > 0]);

    return {
        nsPerPixel,
        timeAt,
        at,
        /* The window is dragged: from where it was, by so many units. */
        drag: (from: Span, units: number) => set(panSpan(from, -units / width, whole)),
        zoomTo: (begin: number, end: number) => {
            const margin = (end - begin) * 0.1;
            set(clampSpan([begin - margin, end + margin], whole));
        },
    };
}
