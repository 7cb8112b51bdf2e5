// How long own work took on each rank over time, against what is usual: a heat map.
import { useMemo, useRef, useState } from "preact/hooks";
import { Place, Ranks } from "../api/types";
import { Cell, Heat, heatPixels } from "../canvas/heat";
import { drawTimeAxis, timeAxisHeight } from "../canvas/figure";
import { SvgPen } from "../canvas/svg_pen";
import { css, hotColour } from "../format/colour";
import { formatTime, plural } from "../format/units";
import { HeatPicture } from "./heat_picture";
import { inks } from "./inks";
import { newPen, Picture, usePicture } from "./pictures";

const least = 0.02; /* slower than usual by less is not coloured */
const most = 1; /* twice as long: as dark as it gets */

interface Props {
    ranks: Ranks;
    begin_ns: number;
    pick?: (place: Place, begin_ns: number, end_ns: number) => void; /* a cell */
}

const mostRects = 20000; /* in a figure; more cells are an image */
const figure = { width: 620, left: 70, row: 14, most: 420 };

function overUsual(factor: number): number {
    return factor - 1 < least ? 0 : Math.min(factor - 1, most);
}

/* As heatPixels() has it: of the highest there is. */
function colourOf(over: number, highest: number): string | null {
    return over > 0 ? css(hotColour(Math.sqrt(over / highest))) : null;
}

/* Cells side by side that have one colour are one rectangle. */
function drawCells(pen: SvgPen, heat: Heat, highest: number, wide: number, high: number): void {
    const [cell, row] = [wide / heat.width, high / heat.rows];
    for (let y = 0; y < heat.rows; y++)
        for (let x = 0; x < heat.width;) {
            const at = (i: number) => colourOf(heat.value[y * heat.width + i], highest);
            const colour = at(x);
            let end = x + 1;
            while (end < heat.width && at(end) === colour) end++;
            pen.fillStyle = colour ?? "";
            if (colour) pen.fillRect(figure.left + x * cell, y * row, (end - x) * cell, row);
            x = end;
        }
}

/* The same picture as a figure, with its axes. */
function rankFigure(
    ranks: Ranks,
    heat: Heat,
    begin_ns: number,
    canvas: HTMLCanvasElement,
): Picture {
    const { places, history } = ranks;
    const pen = newPen();
    const highest = heat.value.reduce((a, b) => Math.max(a, b), 0);
    const colours = inks();
    const wide = figure.width - figure.left;
    const high = Math.min(figure.most, Math.max(60, places.length * figure.row));
    if (places.length * history.width > mostRects)
        pen.insert(
            `<image x="${figure.left}" width="${wide}" height="${high}" preserveAspectRatio="none" image-rendering="pixelated" href="${canvas.toDataURL()}"/>`,
        );
    else drawCells(pen, heat, highest, wide, high);
    pen.strokeStyle = colours.line;
    pen.strokeRect(figure.left, 0, wide, high);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = colours.dim;
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const every = Math.ceil((places.length * figure.row) / high);
    for (let y = 0; y < places.length; y += every)
        pen.fillText(places[y].place, figure.left - 6, ((y + 0.5) * high) / places.length);
    const begin = history.begin_ns - begin_ns;
    const axis = { begin, end: begin + history.width * history.bin_ns, y: high };
    drawTimeAxis(
        pen,
        { ...axis, left: figure.left, right: figure.width, title: "time since the start" },
        colours,
    );
    return {
        width: figure.width,
        height: high + timeAxisHeight,
        content: pen.toString(),
        keys: highest
            ? [0.1, 0.5, 1].map((part) => ({
                  colour: colourOf(part * highest, highest)!,
                  text: `own work takes ${(1 + part * highest).toFixed(2)} times the typical${highest === most && part === 1 ? " or more" : ""}`,
              }))
            : [],
        notes: highest ? [] : ["Nowhere does own work take longer than is typical."],
    };
}

export function RankPicture({ ranks, begin_ns, pick }: Props) {
    const { places, history } = ranks;
    const box = useRef<HTMLDivElement>(null);
    const [at, setAt] = useState<Cell | null>(null);
    const heat = useMemo(
        () => ({
            rows: places.length,
            width: history.width,
            value: Float64Array.from(history.factor, overUsual),
        }),
        [ranks],
    );
    usePicture("ranks", () =>
        rankFigure(ranks, heat, begin_ns, box.current!.querySelector("canvas")!),
    );
    const choose = ({ row, column }: Cell) => {
        const begin = history.begin_ns + column * history.bin_ns;
        pick!(places[row], begin, begin + history.bin_ns);
    };
    const timeOf = (column: number) =>
        formatTime(history.begin_ns - begin_ns + column * history.bin_ns);
    const factor = at && history.factor[at.row * heat.width + at.column];
    return (
        <>
            <HeatPicture
                rows={heat.rows}
                columns={heat.width}
                box={box}
                of={[heat]}
                rgba={() => heatPixels(heat, hotColour).rgba}
                ends={[places[0].place, places[heat.rows - 1].place]}
                label={`How long own work took on ${plural(heat.rows, ranks.by)} over time, against what is typical; the table below says who is slow`}
                hover={setAt}
                choose={pick && choose}
            />
            <p class="dim">
                {at && factor !== null
                    ? `${places[at.row].place}, ${timeOf(at.column)}: ${factor ? `own work takes ${factor.toFixed(2)} times the typical` : "no execution begins"}`
                    : `${timeOf(0)} to ${timeOf(heat.width)} across; coloured: own work that takes longer than is typical${pick ? "; a click shows it in the timeline" : ""}`}
            </p>
        </>
    );
}
