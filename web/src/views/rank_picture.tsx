// How long own work took on each rank over time, against what is usual: a heat map.
import { useMemo, useRef, useState } from "preact/hooks";
import { Place, Ranks } from "../api/types";
import { Cell, fewerRows, Heat, heatPixels, rowOf } from "../canvas/heat";
import { drawTimeAxis, timeAxisHeight } from "../canvas/figure";
import { SvgPen } from "../canvas/svg_pen";
import { css, hotColour, mixed } from "../format/colour";
import { papers, Rgb } from "../format/palette";
import { formatTime, plural } from "../format/units";
import { Key } from "../canvas/figure";
import { isFew, theme } from "../state/store";
import { HeatPicture } from "./heat_picture";
import { inks } from "./inks";
import { Legend, LegendKeys } from "./legend";
import { newPen, Picture, usePicture } from "./pictures";

const least = 0.02; /* slower than is typical by less is not coloured, */
const plain = 0.1; /* and by less than this is paler still: noise is, in most programs */
const most = 1; /* twice as long: as dark as it gets */

interface Props {
    ranks: Ranks;
    begin_ns: number;
    areFew?: boolean; /* executions of the function; else as isFew says */
    pick?: (place: Place, begin_ns: number, end_ns: number) => void; /* a cell */
}

const mostRows = 120; /* of a picture: of more ranks several share one */
const keySteps = [0.05, 0.1, 0.5, 1];
const mostRects = 20000; /* in a figure; more cells are an image */
const figure = { width: 620, left: 70, row: 14, most: 420 };

function overUsual(factor: number): number {
    return factor - 1 < least ? 0 : Math.min(factor - 1, most);
}

/* Noise stays pale: the last colour is always that of twice as long, and steps are even. */
function rgbOf(over: number, isDark: boolean): Rgb {
    const paper = isDark ? papers.dark : papers.light;
    const part = Math.min(1, over / plain) ** 2;
    return mixed(paper, hotColour(over / most, isDark), part);
}

function colourOf(over: number, isDark = false): string | null {
    return over > 0 ? css(rgbOf(over, isDark)) : null;
}

/* "10 % longer" */
function keysOf(isDark: boolean): Key[] {
    return keySteps.map((over) => ({
        colour: colourOf(over, isDark)!,
        text: `${Math.round(100 * over)} %${over === most ? " or more" : ""}`,
    }));
}

/* Cells side by side that have one colour are one rectangle. */
function drawCells(pen: SvgPen, heat: Heat, wide: number, high: number): void {
    const [cell, row] = [wide / heat.width, high / heat.rows];
    for (let y = 0; y < heat.rows; y++)
        for (let x = 0; x < heat.width;) {
            const at = (i: number) => colourOf(heat.value[y * heat.width + i]);
            const colour = at(x);
            let end = x + 1;
            while (end < heat.width && at(end) === colour) end++;
            pen.fillStyle = colour ?? "";
            if (colour) pen.fillRect(figure.left + x * cell, y * row, (end - x) * cell, row);
            x = end;
        }
}

const isAny = (heat: Heat) => heat.value.some((over) => over > 0);
const nowhere = (areFew: boolean) =>
    areFew
        ? "Too few executions to say where own work takes longer than is typical."
        : "Nowhere does own work take longer than is typical.";

/* The same picture as a figure, with its axes. */
function rankFigure(
    ranks: Ranks,
    heat: Heat,
    begin_ns: number,
    areFew: boolean,
    canvas: HTMLCanvasElement,
): Picture {
    const { places, history } = ranks;
    const pen = newPen();
    const colours = inks();
    const wide = figure.width - figure.left;
    const high = Math.min(figure.most, Math.max(60, places.length * figure.row));
    if (places.length * history.width > mostRects)
        pen.insert(
            `<image x="${figure.left}" width="${wide}" height="${high}" preserveAspectRatio="none" image-rendering="pixelated" href="${canvas.toDataURL()}"/>`,
        );
    else drawCells(pen, heat, wide, high);
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
        keys: isAny(heat)
            ? keysOf(false).map((key) => ({
                  ...key,
                  text: `own work ${key.text} longer than is typical`,
              }))
            : [],
        notes: isAny(heat) ? [] : [nowhere(areFew)],
    };
}

export function RankPicture({ ranks, begin_ns, areFew = isFew.value, pick }: Props) {
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
    const shown = useMemo(() => fewerRows(heat, mostRows), [heat]);
    const isDark = theme.value === "dark";
    usePicture("ranks", () =>
        rankFigure(ranks, heat, begin_ns, areFew, box.current!.querySelector("canvas")!),
    );
    const placeAt = (cell: Cell): number => rowOf(heat, shown.per, cell);
    const choose = (cell: Cell) => {
        const begin = history.begin_ns + cell.column * history.bin_ns;
        pick!(places[placeAt(cell)], begin, begin + history.bin_ns);
    };
    const timeOf = (column: number) =>
        formatTime(history.begin_ns - begin_ns + column * history.bin_ns);
    const row = at && placeAt(at);
    const factor = at && history.factor[row! * heat.width + at.column];
    return (
        <>
            <HeatPicture
                rows={shown.rows}
                columns={shown.width}
                box={box}
                of={[shown, isDark]}
                rgba={() =>
                    heatPixels(shown, (root) => rgbOf(most * root ** 2, isDark), most).rgba
                }
                ends={[places[0].place, places[heat.rows - 1].place]}
                across={
                    [0, heat.width].map(
                        (column) => history.begin_ns - begin_ns + column * history.bin_ns,
                    ) as [number, number]
                }
                label={`How long own work took on ${plural(heat.rows, ranks.by)} over time, against what is typical; the table below says who is slow`}
                hover={setAt}
                choose={pick && choose}
            />
            <Legend of="ranks">
                {isAny(heat) ? (
                    <>
                        <span>own work longer than is typical by</span>
                        <LegendKeys keys={keysOf(isDark)} />
                    </>
                ) : (
                    <span>{nowhere(areFew)}</span>
                )}
                {shown.per > 1 && (
                    <span>
                        a row is {shown.per} {ranks.by}s, and has the slowest of them
                    </span>
                )}
            </Legend>
            <p class="dim">
                {at && factor !== null
                    ? `${places[row!].place}, ${timeOf(at.column)}: ${factor ? `own work takes ${factor.toFixed(2)} times the typical` : "no execution begins"}`
                    : `Across: when an execution began, ${timeOf(0)} to ${timeOf(heat.width)} since the start; blank where none began, or none took longer${pick ? "; a click shows it in the timeline" : ""}`}
            </p>
        </>
    );
}
