// Where views stand: a tree of rows and columns, and the box of each view in it. Sizes are in units (13 to the
// height of a letter's line, as everywhere); what a person dragged replaces what is usual, per row or column.
//
//     +----------+---------+    column: row(column(overview, timeline), details)
//     | overview |         |
//     +----------+ details |    Column and row have a path: "" is the whole, "0" its first part, "0.0" the first
//     | timeline |         |    part of that.
//     +----------+---------+

import { Dragged, DraggedByPath, Room } from "../state/panes";

export interface Box {
    left: number;
    top: number;
    width: number;
    height: number;
}

type Direction = "row" | "column";

export interface Group {
    direction: Direction;
    parts: Part[];
}

export interface Part {
    is: string | Group; /* a view, or parts */
    size: number; /* before what is left is shared out ... */
    grow: number; /* ... in these proportions */
    least: number; /* height, while nobody dragged */
}

export interface Divider {
    path: string;
    index: number; /* of the part before it */
    direction: Direction;
    box: Box;
    views: string[]; /* whose size it changes */
    sizes: number[]; /* of all parts beside each other */
    least: number; /* that the part before it can have */
    most: number;
    isLong: boolean; /* they are more than fit, and scroll */
    isStack: boolean; /* none gives what another gets */
}

export interface Laid {
    height: number; /* of all; it may be more than there is */
    items: ({ view: string; box: Box } | Divider)[]; /* as they are read */
}

const gap = 6;
const leastSize = { row: 20 * 13, column: 10 * 13 }; /* for whoever drags */
const rowHeight = 13 * 13;
const stackedHeight = 16 * 13;
const timelineHeight = 23 * 13; /* with 200 units for lanes */
const stackedTimeline = 29 * 13; /* the same, below tools and legend of several lines */
const chosenHeight = 12 * 13;
const detailsWidth: Record<"usual" | "wide", number> = { usual: 25 * 13, wide: 32 * 13 };

export const part = (is: Part["is"], grow: number, least = rowHeight): Part => ({
    is,
    size: 0,
    grow,
    least,
});
const row = (views: string[]): Group => ({
    direction: "row",
    parts: views.map((view) => part(view, 1)),
});

/* All, from above. */
export interface Tree extends Group {
    isStack: boolean; /* one gets higher without another that gives: the page scrolls */
}

interface Shown {
    above: string[]; /* of those that share a place the one in front alone */
    timeline: string | null;
    why: string | null; /* in a stack one of the views ... */
    details: string | null; /* ... else a part of this column, which stands beside all others */
    chosen: string | null; /* below the timeline of a stack */
}

function stackedTree({ above, timeline, why, chosen }: Shown): Tree {
    const heights: [string | null, number][] = [
        [why, stackedHeight],
        ...above.map((view): [string, number] => [view, stackedHeight]),
        [timeline, stackedTimeline],
        [chosen, chosenHeight],
    ];
    return stackOf(
        heights.flatMap(([view, height]) =>
            view === null ? [] : [{ is: view, size: height, grow: 0, least: height }],
        ),
    );
}

//     +-----------------+----------+
//     | above  | above  |          |    A column of these, and beside it the details.
//     +-----------------+ details  |
//     | timeline        |          |
//     +-----------------+----------+
export function treeOf(shown: Shown, room: Room): Tree {
    if (room === "stacked") return stackedTree(shown);
    const { above, timeline, details } = shown;
    const parts: Part[] = [];
    if (above.length) parts.push(part(above.length === 1 ? above[0] : row(above), 5));
    if (timeline !== null) parts.push(part(timeline, 6, timelineHeight));
    const tree: Tree = { direction: "column", parts, isStack: false };
    if (details === null) return tree;
    if (!parts.length) return { ...tree, parts: [part(details, 1)] };
    const middle = { direction: "column" as const, parts };
    const beside: Group = {
        direction: "row",
        parts: [
            part(parts.length === 1 ? parts[0].is : middle, 1),
            { is: details, size: detailsWidth[room], grow: 0, least: rowHeight },
        ],
    };
    const least = sum(parts.map((p) => p.least)) + gap * (parts.length - 1);
    return { ...tree, parts: [part(beside, 1, least)] };
}

const sum = (of: number[]) => of.reduce((all, x) => all + x, 0);

/* One below another, each so high at least; those that grow share what is left. */
export function stackOf(parts: Part[]): Tree {
    if (parts.every(({ grow }) => !grow)) parts[parts.length - 1].grow = 1;
    return { direction: "column", parts, isStack: true };
}

/* Shares out `room`; nothing gets less than its least, unless there is no room for that either. */
export function shareOut(
    room: number,
    parts: { size: number; grow: number; least: number }[],
): number[] {
    const scale = Math.min(1, room / Math.max(1, sum(parts.map((p) => p.least))));
    const least = parts.map((p) => p.least * scale);
    const fixed = new Map<number, number>();
    for (;;) {
        const free = parts.map((_, i) => i).filter((i) => !fixed.has(i));
        const left = room - sum([...fixed.values()]) - sum(free.map((i) => parts[i].size));
        const by = (i: number) => (left > 0 ? parts[i].grow : parts[i].size);
        const all = sum(free.map(by)) || Infinity;
        const sizes = parts.map((p, i) => fixed.get(i) ?? p.size + (left * by(i)) / all);
        const short = free.filter((i) => sizes[i] < least[i] - 1e-6);
        if (!short.length) return sizes;
        short.forEach((i) => fixed.set(i, least[i]));
    }
}

/* What is usually less high may stay so. */
function leastAlong({ is, least }: Part, direction: Direction): number {
    const usual = direction === "column" ? least : Infinity;
    if (typeof is === "string") return Math.min(leastSize[direction], usual);
    const each = is.parts.map((p) => leastAlong(p, direction));
    return is.direction === direction ? sum(each) + gap * (each.length - 1) : Math.max(...each);
}

function viewsOf(is: Part["is"]): string[] {
    return typeof is === "string" ? [is] : is.parts.flatMap((p) => viewsOf(p.is));
}

/* Sizes that were dragged are of these parts. */
function draggedOf(group: Group, path: string, dragged: DraggedByPath): Dragged | null {
    const own = dragged[path];
    return own?.sizes.length === group.parts.length ? own : null;
}

interface Placing {
    dragged: DraggedByPath;
    isOwn: boolean; /* the whole was dragged: heights may be less than usual */
    isLong: boolean; /* it is more than fits */
    seen: number; /* of a stack the height that is seen, else 0 */
}

function place(group: Group, path: string, box: Box, placing: Placing): Laid["items"] {
    const { direction, parts } = group;
    const isRow = direction === "row";
    const own = draggedOf(group, path, placing.dragged);
    const leasts = parts.map((p) => leastAlong(p, direction));
    const isUsual = !isRow && !own && !placing.isOwn;
    const { seen } = placing;
    const n = parts.length;
    const sizes = shareOut(
        (isRow ? box.width : box.height) - gap * (seen ? n : n - 1),
        parts.map((p, i) => ({
            size: own ? own.sizes[i] : p.size,
            grow: own ? own.sizes[i] : p.grow,
            least: isUsual ? p.least : leasts[i],
        })),
    );
    const along = (from: number, size: number): Box =>
        isRow ? { ...box, left: from, width: size } : { ...box, top: from, height: size };
    const items: Laid["items"] = [];
    let at = isRow ? box.left : box.top;
    parts.forEach(({ is }, index) => {
        const size = sizes[index];
        const its = along(at, size);
        if (typeof is === "string") items.push({ view: is, box: its });
        else {
            const below = path ? `${path}.${index}` : String(index);
            items.push(...place(is, below, its, { ...placing, seen: 0 }));
        }
        at += size;
        if (!seen && index + 1 === n) return;
        items.push({
            path,
            index,
            direction,
            box: along(at, gap),
            views: viewsOf(is),
            sizes,
            least: leasts[index],
            most: seen ? Math.max(seen, size) : size + sizes[index + 1] - leasts[index + 1],
            isLong: path === "" && placing.isLong,
            isStack: seen > 0,
        });
        at += gap;
    });
    return items;
}

/* In so much room; what does not fit goes on below it, to be scrolled to. */
export function layOutPanes(
    tree: Tree,
    { width, height }: { width: number; height: number },
    dragged: DraggedByPath,
): Laid {
    const own = draggedOf(tree, "", dragged);
    const heights = own?.isLong
        ? own.sizes
        : tree.parts.map((p) => (own ? leastAlong(p, "column") : p.least));
    const { isStack } = tree;
    const needed = sum(heights) + gap * (isStack ? heights.length : heights.length - 1);
    const all = Math.max(needed, height);
    const box = { left: 0, top: 0, width, height: all };
    const placing = {
        dragged,
        isOwn: own !== null,
        isLong: isStack || needed > height,
        seen: isStack ? height : 0,
    };
    return { height: all, items: place(tree, "", box, placing) };
}

/* The sizes when the part before a divider gets another one: what is behind it gives or takes, but in a stack. */
export function sizesAfter(divider: Divider, wanted: number): Dragged {
    const { sizes: before, index, least, most, isLong, isStack } = divider;
    const sizes = [...before];
    sizes[index] = Math.min(Math.max(wanted, least), most);
    if (!isStack) sizes[index + 1] -= sizes[index] - before[index];
    return { sizes, isLong };
}
