// How much room there is, and what a person made of it: sizes, for each layout (the views that are shown, and how much
// room there is) by itself, and columns that are folded. Of one screen, so not in the link, but kept by the browser.
import { computed, signal } from "@preact/signals";

/* stacked: views stand one below the other, and scroll. */
export type Room = "stacked" | "usual" | "wide";

export function roomOf(width: number): Room {
    return width <= 1100 ? "stacked" : width < 1700 ? "usual" : "wide";
}

/* How many views stand beside each other above the timeline. Those that are more share the last place, as tabs. */
const places: Record<Room, number> = { stacked: Infinity, usual: 1, wide: 2 };

export function sharedPlace<View>(views: View[], room: Room): View[] {
    const own = places[room] - 1;
    return views.length > own + 1 ? views.slice(own) : [];
}

const pageWidth = signal(globalThis.innerWidth ?? 0);
globalThis.addEventListener?.("resize", () => (pageWidth.value = innerWidth));

export const room = computed(() => roomOf(pageWidth.value));
const phoneWidth = 640;
/* One column: the list, and the rest below it. */
export const isPhone = computed(() => pageWidth.value <= phoneWidth);

export interface Dragged {
    sizes: number[]; /* units, of the parts of a row or column */
    isLong: boolean; /* they were more than fit, and scrolled */
}
export type DraggedByPath = Record<string, Dragged>; /* views/panes_layout.ts has the paths */
type Layouts = Record<string, DraggedByPath>;

const key = "snag-panes";
const foldedKey = "snag-folded";

function isDragged(of: any): of is Dragged {
    return (
        Array.isArray(of?.sizes) &&
        of.sizes.every((size: unknown) => Number.isFinite(size) && (size as number) > 0) &&
        typeof of.isLong === "boolean"
    );
}

/* What is there may be from another version, or of anybody's making. */
export function readLayouts(text: string | null): Layouts {
    const layouts: Layouts = {};
    try {
        for (const [name, paths] of Object.entries<object>(JSON.parse(text ?? "{}") ?? {}))
            layouts[name] = Object.fromEntries(
                Object.entries(paths ?? {}).filter(([, of]) => isDragged(of)),
            );
    } catch {
        return {};
    }
    return layouts;
}

function stored(): Layouts {
    try {
        return readLayouts(localStorage.getItem(key));
    } catch {
        return {}; /* a browser that keeps nothing */
    }
}

const layouts = signal<Layouts>(stored());

export function draggedIn(layout: string): DraggedByPath {
    return layouts.value[layout] ?? {};
}

/* null: as is usual. */
export function setDragged(layout: string, path: string, to: Dragged | null): void {
    const { [path]: _, ...others } = draggedIn(layout);
    layouts.value = { ...layouts.value, [layout]: to ? { ...others, [path]: to } : others };
}

/* Once it is as it should be: not at each step of a drag. Of other tabs, layouts that this one never showed stay. */
export function keepDragged(layout: string): void {
    try {
        const all = { ...stored(), [layout]: draggedIn(layout) };
        localStorage.setItem(key, JSON.stringify(all));
    } catch {
        /* it holds until the page is left */
    }
}

/* The columns at the sides of the page. */
export type Column = "list" | "details";

function storedFolds(): Column[] {
    try {
        const said = localStorage.getItem(foldedKey) ?? "";
        return (["list", "details"] as const).filter((name) => said.split(",").includes(name));
    } catch {
        return [];
    }
}

const folded = signal<Column[]>(storedFolds());

/* Where all stands in one column nothing is at its side. */
export function isFolded(column: Column): boolean {
    return room.value !== "stacked" && folded.value.includes(column);
}

export function fold(column: Column, isAway: boolean): void {
    const others = folded.value.filter((name) => name !== column);
    if (others.length < folded.value.length === isAway) return;
    folded.value = isAway ? [...others, column] : others;
    try {
        localStorage.setItem(foldedKey, folded.value.join());
    } catch {
        /* as above */
    }
}

export function toggleFold(column: Column): void {
    fold(column, !isFolded(column));
}
