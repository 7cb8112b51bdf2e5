// Both runs from their start, in two strips: the executions where those that are shown were, coloured by how their time changed
// against that of the same number in the other run. A click shows one.
import { useMemo, useRef } from "preact/hooks";
import { printPlace } from "../canvas/compared_pairs";
import { Both, both, Side, sides } from "../canvas/difference";
import { Span } from "../canvas/window";
import { changeColour, changeOf, formatChange } from "../format/change";
import { css } from "../format/colour";
import { executionId } from "../format/ids";
import { Rgb } from "../format/palette";
import { formatTime } from "../format/units";
import { indexes, showExecution, ShownSide } from "../state/compared_timelines";
import { theme } from "../state/store";
import { Canvas, Point } from "./canvas";
import { left } from "./compared_lanes";
import { cssColour } from "./inks";
import { useSize } from "./use_size";

const stripHeight = 15;
const stripGap = 2;
const reach = 3; /* units beside a narrow one */

interface Block {
    row: number;
    begin: number /* ns since the start of its run */;
    end: number;
    change: number | null /* null: the other run has none of that number there */;
}

function blocksOf(now: Both<ShownSide>, side: Side): Block[] {
    const at = sides.indexOf(side);
    const of = now[side];
    const { rows } = of.of;
    const other = now[sides[1 - at]].of.rows;
    const [own, others] = [indexes.value![at], indexes.value![1 - at]];
    return [...own.rowsAt(of.place)]
        .map(([number, row]): Block => {
            const k = others.rowOf(of.place, number);
            const times = [rows.duration_ns[row], k < 0 ? NaN : other.duration_ns[k]];
            const [before, after] = at === 0 ? times : times.reverse();
            const begin = rows.enter_ns[row] - of.whole[0];
            return {
                row,
                begin,
                end: begin + rows.duration_ns[row],
                change: k < 0 ? null : changeOf(before, after),
            };
        })
        .sort((a, b) => a.begin - b.begin);
}

interface Cell {
    x: number /* units */;
    width: number;
    change: number | null;
}

/* Where more than one lies in a unit of the width, the one that changed most, so that drawing takes as long for a million. */
function cellsOf(blocks: Block[], toX: (ns: number) => number): Cell[] {
    const size = (change: number | null) => (change === null ? Infinity : Math.abs(change));
    const cells: Cell[] = [];
    for (const { begin, end, change } of blocks) {
        const x = toX(begin);
        const width = Math.max(1, toX(end) - x - 0.5);
        const last = cells[cells.length - 1];
        if (!last || x >= last.x + 1) cells.push({ x, width, change });
        else if (size(change) > size(last.change)) last.change = change;
    }
    return cells;
}

const gone: Rgb = changeColour(-1);
const fresh: Rgb = changeColour(1);

export function RunsStrip({ now, window }: { now: Both<ShownSide>; window: Span }) {
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const places = sides
        .map((side) => `${now[side].of.room} ${printPlace(now[side].place)}`)
        .join();
    const blocks = useMemo(() => both((side) => blocksOf(now, side)), [places, indexes.value]);
    const longest = Math.max(...sides.map((side) => now[side].whole[1] - now[side].whole[0]));
    const toX = (ns: number) => left + (ns / longest) * (size.width - left);
    const cells = useMemo(
        () => both((side) => cellsOf(blocks[side], toX)),
        [blocks, longest, size.width],
    );
    const topOf = (side: Side) => sides.indexOf(side) * (stripHeight + stripGap);
    const draw = (c: CanvasRenderingContext2D) => {
        c.font = "11px system-ui, sans-serif";
        c.textBaseline = "middle";
        for (const side of sides) {
            const of = now[side];
            const top = topOf(side);
            c.fillStyle = cssColour("--dim");
            c.fillText(side, 8, top + stripHeight / 2);
            c.fillStyle = cssColour("--line");
            c.fillRect(left, top + stripHeight - 1, toX(of.whole[1] - of.whole[0]) - left, 1);
            for (const { x, width, change } of cells[side]) {
                const colour =
                    change === null ? (side === "before" ? gone : fresh) : changeColour(change);
                c.fillStyle = css(colour);
                c.fillRect(x, top, width, stripHeight - 1);
            }
            const [from, to] = window.map((ns) =>
                Math.min(Math.max(toX(ns + of.start_ns - of.whole[0]), left), size.width),
            );
            c.strokeStyle = cssColour("--ink");
            c.lineWidth = 2;
            c.strokeRect(from - 1, top, Math.max(4, to - from + 2), stripHeight - 1);
        }
    };
    const find = ({ x, y }: Point): { side: Side; block: Block } | null => {
        const side = sides.find((s) => y >= topOf(s) && y < topOf(s) + stripHeight);
        if (!side) return null;
        let best: Block | null = null;
        let least = reach;
        for (const block of blocks[side]) {
            const away = Math.max(toX(block.begin) - x, x - toX(block.end), 0);
            if (away < least) [best, least] = [block, away];
        }
        return best && { side, block: best };
    };
    const idOf = (side: Side, row: number) => {
        const { rank, thread, index } = now[side].of.rows;
        return executionId(rank[row], thread[row], index[row]);
    };
    return (
        <Canvas
            box={box}
            size={size}
            class="pair-strip"
            label={`Both runs from their start, ${sides.map((side) => `${formatTime(now[side].whole[1] - now[side].whole[0])} ${side}`).join(", ")}: executions of the lanes of those that are shown`}
            of={[cells, window.join(), now, theme.value, size]}
            draw={draw}
            says={(at) => {
                const found = find(at);
                if (!found) return null;
                const { side, block } = found;
                return (
                    <>
                        <b>{idOf(side, block.row)}</b> {side},{" "}
                        {formatTime(block.end - block.begin)}
                        <br />
                        {block.change === null
                            ? "the other run has none of that number there"
                            : `${formatChange(block.change)} from before to after`}
                    </>
                );
            }}
            choose={(at) => {
                const found = find(at);
                if (found) showExecution(now[found.side].of, found.block.row);
            }}
        />
    );
}
