// What lies above the points: axes with units, rings around what is selected.
import { Axis } from "../canvas/axis";
import { Pen } from "../canvas/svg_pen";
import { View } from "../canvas/points";
import { formatCount, formatMoment, formatTime } from "../format/units";
import { Attribute } from "../state/store";

interface Colours {
    ink: string;
    dim: string;
    paper: string;
}

interface Frame {
    width: number;
    height: number;
    left: number;
    bottom: number;
}

const pointMargin = 0.04; /* as in spreadOut */
const mostRings = 3000;

const titles: Record<Attribute, string> = {
    enter_ns: "time since the start",
    exit_ns: "time it ended, since the start",
    duration_ns: "duration",
    rank: "rank",
    score: "score",
    messages: "messages",
    vertices: "calls in it",
};

/* stepNs: between ticks, where it is the same between all. */
function tickText(value: number, attribute: Attribute, stepNs: number | null): string {
    if (attribute.endsWith("_ns"))
        return stepNs === null ? formatTime(value) : value ? formatMoment(value, stepNs) : "0";
    return Number.isInteger(value)
        ? formatCount(value)
        : attribute === "score"
          ? value.toFixed(1)
          : "";
}

export function drawAxes(
    context: Pen,
    [xAxis, yAxis]: [Axis, Axis],
    [xName, yName]: [Attribute, Attribute],
    view: View,
    { width, height, left, bottom }: Frame,
    colours: Colours,
): void {
    const place = (at: number) => pointMargin + (1 - 2 * pointMargin) * at;
    const value = (x: number) => (x - pointMargin) / (1 - 2 * pointMargin);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, left, height);
    context.fillRect(0, height - bottom, width, bottom);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colours.dim;
    context.strokeStyle = colours.dim;
    context.textAlign = "center";
    context.textBaseline = "top";
    const stepOf = (ticks: { value: number }[], { isLog }: Axis) =>
        isLog || ticks.length < 2 ? null : ticks[1].value - ticks[0].value;
    const across = xAxis.ticks(
        value((left - view.x) / view.scaleX),
        value((width - view.x) / view.scaleX),
        Math.max(3, (width - left) / 110),
    );
    for (const tick of across) {
        const x = place(tick.at) * view.scaleX + view.x;
        if (x < left) continue;
        context.fillRect(x, height - bottom, 1, 4);
        const text = tickText(tick.value, xName, stepOf(across, xAxis));
        const half = context.measureText(text).width / 2;
        context.fillText(text, Math.min(x, width - 2 - half), height - bottom + 5);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    const low = value(1 - (height - bottom - view.y) / view.scaleY);
    const down = yAxis.ticks(low, value(1 + view.y / view.scaleY), Math.max(3, height / 50));
    for (const tick of down) {
        const y = (1 - place(tick.at)) * view.scaleY + view.y;
        if (y < 20 || y > height - bottom) continue;
        context.fillRect(left - 4, y, 4, 1);
        context.fillText(tickText(tick.value, yName, stepOf(down, yAxis)), left - 6, y);
    }
    context.fillStyle = colours.ink;
    context.textBaseline = "top";
    context.textAlign = "left";
    context.fillText(`${titles[yName]}${yAxis.isLog ? " (log)" : ""} ↑`, 4, 1);
    context.textAlign = "right";
    context.fillText(
        `${titles[xName]}${xAxis.isLog ? " (log)" : ""} →`,
        width - 4,
        height - bottom + 19,
    );
}

export function drawRings(
    context: Pen,
    chosen: Uint32Array | null,
    selected: number | null,
    toX: (tree: number) => number,
    toY: (tree: number) => number,
    rgba: Uint8Array,
    colours: Colours,
): void {
    const ring = (tree: number, radius: number, width: number, colour: string) => {
        context.beginPath();
        context.arc(toX(tree), toY(tree), radius, 0, 2 * Math.PI);
        context.lineWidth = width;
        context.strokeStyle = colour;
        context.stroke();
    };
    // Rings of many would hide all that is in them.
    const isMany = chosen !== null && chosen.length > 200;
    for (const tree of chosen?.subarray(0, mostRings) ?? [])
        ring(tree, isMany ? 4 : 6, isMany ? 0.6 : 1, colours.ink);
    if (selected !== null) {
        // The slider may have left it out, and others may lie on it.
        context.beginPath();
        context.arc(toX(selected), toY(selected), 4, 0, 2 * Math.PI);
        context.fillStyle = `rgb(${rgba.slice(4 * selected, 4 * selected + 3).join()})`;
        context.fill();
        ring(selected, 4, 1, colours.ink);
        // Thin, as its neighbours are to be seen.
        ring(selected, 8, 3.5, colours.paper);
        ring(selected, 8, 2, colours.ink);
    }
    context.lineWidth = 1;
}
