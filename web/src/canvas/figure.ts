// What a figure in a paper has beside what is drawn: a title, axes with units, a legend. And the plain
// ones, that are text and bars. All of it is drawn by a pen, so it can be saved as SVG.
import { scaleLinear } from "d3-scale";
import { formatMoment } from "../format/units";
import { Pen, SvgPen } from "./svg_pen";

export interface Paint {
    ink: string;
    dim: string;
    line: string;
    bar: string;
}

export interface Key {
    colour: string;
    odd?: string; /* at odd depths */
    text: string;
    shape?: "box" | "circle" | "frame" | "line";
}

export interface Figure {
    width: number; /* units */
    height: number;
    content: string; /* SVG */
    about?: string; /* which execution it shows, say */
    keys?: Key[]; /* what colours mean */
    notes?: string[]; /* what else is to be known */
}

const sans = "system-ui, sans-serif";
const leastWidth = 460;
const lineHeight = 16;
const titleHeight = 20;
const gap = 10;

/* Lines that are no wider, broken between words; a word that is wider has one of its own. */
export function wrapText(c: Pen, text: string, width: number): string[] {
    const lines: string[] = [];
    let line = "";
    for (const word of text.split(" ")) {
        const longer = line ? `${line} ${word}` : word;
        if (line && c.measureText(longer).width > width) {
            lines.push(line);
            line = word;
        } else line = longer;
    }
    return [...lines, line];
}

function write(c: Pen, lines: string[], y: number, height: number): number {
    c.textAlign = "left";
    c.textBaseline = "alphabetic";
    lines.forEach((line, i) => c.fillText(line, 0, y + (i + 1) * height - 5));
    return y + lines.length * height;
}

const keySize = 11;
const keyRoom = 16; /* between one and the next */

function drawKey(c: Pen, { colour, odd, shape = "box" }: Key, x: number, y: number): void {
    const [middle, top] = [y + lineHeight / 2, y + (lineHeight - keySize) / 2];
    c.fillStyle = colour;
    c.strokeStyle = colour;
    c.lineWidth = 2;
    if (shape === "box") c.fillRect(x, top, keySize, keySize);
    c.fillStyle = odd ?? colour;
    if (odd) c.fillRect(x + keySize / 2, top, keySize / 2, keySize);
    if (shape === "frame") c.strokeRect(x + 1, top + 1, keySize - 2, keySize - 2);
    c.beginPath();
    if (shape === "circle") {
        c.arc(x + keySize / 2, middle, keySize / 2 - 1, 0, 2 * Math.PI);
        c.fill();
    }
    if (shape === "line") {
        c.moveTo(x, middle);
        c.lineTo(x + keySize, middle);
        c.stroke();
    }
}

/* From left to right, in as many lines as they take; where they end. */
export function drawKeys(c: Pen, keys: Key[], y: number, width: number, paint: Paint): number {
    c.font = `11px ${sans}`;
    let x = 0;
    for (const key of keys) {
        const wide = keySize + 5 + c.measureText(key.text).width;
        if (x > 0 && x + wide > width) {
            x = 0;
            y += lineHeight;
        }
        drawKey(c, key, x, y);
        c.fillStyle = paint.ink;
        c.textAlign = "left";
        c.textBaseline = "alphabetic";
        c.fillText(key.text, x + keySize + 5, y + lineHeight - 4);
        x += wide + keyRoom;
    }
    return keys.length ? y + lineHeight : y;
}

/* The figure below its title, above its legend; how large that is. */
export function frameFigure(
    c: SvgPen,
    figure: Figure,
    title: string,
    under: string,
    paint: Paint,
): { width: number; height: number } {
    const width = Math.max(figure.width, leastWidth);
    c.font = `bold 14px ${sans}`;
    c.fillStyle = paint.ink;
    let y = write(c, wrapText(c, title, width), 0, titleHeight);
    c.font = `11px ${sans}`;
    c.fillStyle = paint.dim;
    y = write(c, wrapText(c, under, width), y, lineHeight) + gap;
    c.insert(`<g transform="translate(0,${y})">\n${figure.content}\n</g>`);
    y += figure.height + gap;
    if (figure.keys?.length) y = drawKeys(c, figure.keys, y, width, paint) + gap / 2;
    c.fillStyle = paint.dim;
    c.font = `11px ${sans}`;
    for (const note of figure.notes ?? [])
        y = write(c, wrapText(c, note, width), y, lineHeight);
    return { width, height: y };
}

export interface TimeAxis {
    begin: number; /* ns */
    end: number;
    left: number;
    right: number;
    y: number;
    title: string;
}

export const timeAxisHeight = 36;
const tickEvery = 110;

/* Below what it is of. */
export function drawTimeAxis(c: Pen, axis: TimeAxis, paint: Paint): void {
    const { left, right, y } = axis;
    const scale = scaleLinear().domain([axis.begin, axis.end]).range([left, right]);
    const ticks = scale.ticks(Math.max(2, Math.floor((right - left) / tickEvery)));
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : axis.end - axis.begin;
    c.font = `11px ${sans}`;
    c.textBaseline = "alphabetic";
    c.textAlign = "left";
    c.fillStyle = paint.dim;
    c.fillRect(left, y, right - left, 1);
    let written = left; /* so far */
    for (const tick of ticks) {
        const x = scale(tick);
        const text = tick === 0 ? "0" : formatMoment(tick, step);
        const half = c.measureText(text).width / 2;
        c.fillRect(x, y, 1, 4);
        const from = Math.min(Math.max(x - half, left), right - 2 * half);
        if (from < written) continue;
        written = from + 2 * half + 6;
        c.fillText(text, from, y + 15);
    }
    c.fillStyle = paint.ink;
    const title = `${axis.title} →`;
    c.fillText(title, Math.max(left, right - c.measureText(title).width), y + 30);
}

interface Bar {
    name: string;
    ns: number;
    says: string;
}

const barHeight = 12;
const barRoom = 6; /* below it */
const saysRoom = 130; /* to the right of the longest */

/* As a figure so wide: a name, and below it a bar of its time. */
export function drawBars(
    c: Pen,
    bars: Bar[],
    title: string,
    width: number,
    paint: Paint,
): { width: number; height: number } {
    const most = Math.max(1, ...bars.map(({ ns }) => ns));
    const right = width - saysRoom;
    let y = 0;
    for (const { name, ns, says } of bars) {
        c.font = `12px ${sans}`;
        c.fillStyle = paint.ink;
        y = write(c, wrapText(c, name, width), y, lineHeight);
        const wide = (Math.max(0, ns) / most) * right;
        c.fillStyle = paint.bar;
        c.fillRect(0, y, wide, barHeight);
        c.font = `11px ${sans}`;
        c.fillStyle = paint.ink;
        c.fillText(says, wide + 5, y + barHeight - 2);
        y += barHeight + barRoom;
    }
    drawTimeAxis(c, { begin: 0, end: most, left: 0, right, y, title }, paint);
    return { width, height: y + timeAxisHeight };
}

export interface Lines {
    columns: { title: string; isWords?: boolean }[];
    rows: string[][];
}

const columnRoom = 16;
const mostWords = 360; /* wider words go on in the next line */

/* A table as a figure, with a line below its head; words to the left, numbers to the right. */
export function drawTable(
    c: Pen,
    { columns, rows }: Lines,
    paint: Paint,
): { width: number; height: number } {
    const fontOf = (isHead: boolean) => `${isHead ? "bold " : ""}11px ${sans}`;
    const lines = [columns.map(({ title }) => title), ...rows].map((row, r) => {
        c.font = fontOf(r === 0);
        return row.map((cell) => wrapText(c, cell, mostWords));
    });
    const widths = columns.map((_, k) =>
        Math.max(
            ...lines.map((row, r) => {
                c.font = fontOf(r === 0);
                return Math.max(...row[k].map((line) => c.measureText(line).width));
            }),
        ),
    );
    let y = 0;
    lines.forEach((row, r) => {
        c.font = fontOf(r === 0);
        c.fillStyle = paint.ink;
        c.textBaseline = "alphabetic";
        let x = 0;
        row.forEach((cell, k) => {
            const isWords = columns[k].isWords;
            c.textAlign = isWords ? "left" : "right";
            cell.forEach((line, i) =>
                c.fillText(line, isWords ? x : x + widths[k], y + (i + 1) * lineHeight - 4),
            );
            x += widths[k] + columnRoom;
        });
        y += Math.max(...row.map((cell) => cell.length)) * lineHeight;
        c.fillStyle = r === 0 ? paint.dim : paint.line;
        c.fillRect(0, y, x - columnRoom, 1);
        y += 2;
    });
    const width = widths.reduce((sum, w) => sum + w + columnRoom, -columnRoom);
    return { width, height: y };
}
