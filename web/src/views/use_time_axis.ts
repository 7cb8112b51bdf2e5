// What moves along an axis of time: where on the canvas a time is, and how the window is moved. The wheel zooms with Ctrl,
// and pans with Shift or to the side.
import { useRef } from "preact/hooks";
import { clampSpan, panSpan, Span, zoomSpan } from "../canvas/window";
import { Drag, Mover, Point, pointerAt } from "./canvas";
import { Size } from "./use_size";

interface TimeAxis {
    left: number; /* units, before the axis begins */
    window: Span;
    whole: Span;
    set: (window: Span) => void;
}

export function useTimeAxis(size: Size, axis: TimeAxis) {
    const { left, window, whole, set } = axis;
    const width = Math.max(1, size.width - left);
    const nsPerPixel = (window[1] - window[0]) / width;
    const timeAt = (x: number) => window[0] + (x - left) * nsPerPixel;

    const wheel = useRef<(event: WheelEvent) => void>(() => undefined);
    wheel.current = (event) => {
        const isAside = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        if (event.ctrlKey || event.metaKey) {
            const factor = Math.exp(-event.deltaY * 0.004);
            const { x } = pointerAt(event, event.currentTarget as HTMLCanvasElement, size);
            set(zoomSpan(window, factor, timeAt(x), whole));
        } else if (isAside) {
            const moved = (event.deltaX || event.deltaY) / Math.max(1, size.width * size.scale);
            set(panSpan(window, moved, whole));
        } else return;
        event.preventDefault();
    };
    const mover: Mover = {
        attach: (canvas) => {
            const listener = (event: WheelEvent) => wheel.current(event);
            // Not passive: the wheel would scroll the page as well.
            canvas.addEventListener("wheel", listener, { passive: false });
            return () => canvas.removeEventListener("wheel", listener);
        },
    };
    return {
        mover,
        nsPerPixel,
        timeAt,
        /* The window is dragged, from where it is now. */
        drag: ({ x }: Point): Drag => ({
            to: (at) => set(panSpan(window, -(at.x - x) / width, whole)),
        }),
        zoomTo: (begin: number, end: number) => {
            const margin = (end - begin) * 0.1;
            set(clampSpan([begin - margin, end + margin], whole));
        },
    };
}
