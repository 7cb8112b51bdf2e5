// The whole run in a strip: how many executions run at a time (grey), where the anomalies are
// (vermilion, from the top), and the window of the timeline, which can be dragged.
import { useMemo, useRef, useState } from "preact/hooks";
import { Bins, binsOf } from "../canvas/run_bins";
import { clampSpan, Span } from "../canvas/window";
import { formatTime } from "../format/units";
import { Executions, theme } from "../state/store";
import { Canvas, Drag, Point } from "./canvas";
import { cssColour } from "./inks";
import { useSize } from "./use_size";

interface Props {
    all: Executions | null;
    whole: Span;
    window: Span;
    set: (window: Span) => void;
    only: Span | null; /* the time that the list is filtered to */
    filterBy: (time: Span | null) => void;
}

function drawMinimap(
    c: CanvasRenderingContext2D,
    width: number,
    height: number,
    bins: Bins | null,
    { whole, window }: Props,
    only: Span | null,
): void {
    const toX = (ns: number) => ((ns - whole[0]) / (whole[1] - whole[0])) * width;
    if (bins) {
        const most = bins.many.reduce((a, b) => Math.max(a, b), 1);
        c.fillStyle = cssColour("--cold");
        bins.many.forEach((n, bin) => {
            const h = (n / most) * (height - 6);
            if (h) c.fillRect(bin * 2, height - h, 2, h);
        });
        c.fillStyle = cssColour("--hot");
        // One is seen as well as many; where every bin has some, more are still more.
        const worst = bins.strange.reduce((a, b) => Math.max(a, b), 1);
        bins.strange.forEach((n, bin) => {
            if (n) c.fillRect(bin * 2, 0, 2, height * (0.35 + 0.65 * (n / worst)));
        });
    }
    if (only) {
        const [from, until] = only.map(toX);
        c.fillStyle = cssColour("--action");
        c.fillRect(from, height - 4, Math.max(2, until - from), 4);
    }
    const [x0, x1] = [toX(window[0]), toX(window[1])];
    c.fillStyle = cssColour("--ink");
    c.globalAlpha = 0.12;
    c.fillRect(x0, 0, x1 - x0, height);
    c.globalAlpha = 1;
    c.strokeStyle = cssColour("--ink");
    c.lineWidth = 2;
    c.strokeRect(x0 - 1, 1, Math.max(4, x1 - x0 + 2), height - 2);
}

export function Minimap(props: Props) {
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const { all, whole, window, set, only, filterBy } = props;
    const [brushed, setBrushed] = useState<Span | null>(null); /* while it is drawn */
    // All executions are looked at once, not whenever the window moves.
    const bins = useMemo(
        () => (all && size.width ? binsOf(all, whole, Math.ceil(size.width / 2)) : null),
        [all?.enter_ns, all?.verdict, whole.join(), size.width],
    );
    const moveTo = ({ x }: Point) => {
        const at = whole[0] + (x / size.width) * (whole[1] - whole[0]);
        const half = (window[1] - window[0]) / 2;
        set(clampSpan([at - half, at + half], whole));
    };
    const timeAt = (x: number) =>
        whole[0] + Math.min(Math.max(x / size.width, 0), 1) * (whole[1] - whole[0]);
    const brush = (from: Point): Drag => {
        let of: Span | null = null;
        return {
            to: ({ x }) => {
                const [a, b] = [timeAt(from.x), timeAt(x)];
                of = [Math.floor(Math.min(a, b)), Math.ceil(Math.max(a, b))];
                setBrushed(of);
            },
            end: () => {
                setBrushed(null);
                if (of && of[1] > of[0]) filterBy(of);
            },
        };
    };
    const shown = brushed ?? only;
    return (
        <Canvas
            box={box}
            size={size}
            class="minimap"
            label={`The whole run, ${formatTime(whole[1] - whole[0])}; the window is at ${formatTime(window[0])}`}
            title="The whole run; vermilion: anomalies. Click or drag to move the window; with Shift to filter all views by a time"
            of={[bins, window, shown, theme.value]}
            draw={(pen) => drawMinimap(pen, size.width, size.height, bins, props, shown)}
            drag={(from, event) => {
                if (event.shiftKey) return brush(from);
                moveTo(from);
                return { to: moveTo };
            }}
        />
    );
}
