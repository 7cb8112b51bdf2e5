// How large a person made the parts of the page: of one screen, so not in the link, but kept by the browser, for
// each layout (the views that are shown, and how much room there is) by itself.
import { signal } from "@preact/signals";

export interface Dragged {
    sizes: number[]; /* units, of the parts of a row or column */
    isLong: boolean; /* they were more than fit, and scrolled */
}
export type DraggedByPath = Record<string, Dragged>; /* views/panes_layout.ts has the paths */
type Layouts = Record<string, DraggedByPath>;

const key = "snag-panes";

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
