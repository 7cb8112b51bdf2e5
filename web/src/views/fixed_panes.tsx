// Pages whose views are always the same: the comparison, a history, a program that is live. How these stand at first,
// by how much room there is; they are dragged as the views of a run are.
import { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Room, room as roomNow } from "../state/panes";
import { Panes } from "./panes";
import { part, Part, stackOf, Tree } from "./panes_layout";
import { useSize } from "./use_size";

const rem = 13; /* units */

export interface FixedView {
    name: string;
    title: string;
    least: number; /* rem, of its height in a stack */
    view: ComponentChildren;
}

/* Where views stand in a wide window; in a narrow one they are a stack. A name without a view leaves no gap. */
export type Arrange = (room: "usual" | "wide") => Part[];

export const beside = (...parts: Part[]): Part["is"] => ({ direction: "row", parts });
export const below = (...parts: Part[]): Part["is"] => ({ direction: "column", parts });
export const pane = (is: Part["is"], grow: number, least = 17): Part =>
    part(is, grow, least * rem);

/* Without those that are not there. */
function pruned(of: Part, there: Set<string>): Part[] {
    if (typeof of.is === "string") return there.has(of.is) ? [of] : [];
    const parts = of.is.parts.flatMap((inner) => pruned(inner, there));
    if (parts.length < 2) return parts.map(({ is }) => ({ ...of, is }));
    return [{ ...of, is: { ...of.is, parts } }];
}

function fixedTree(views: FixedView[], room: Room, arrange: Arrange | null): Tree {
    if (room === "stacked" || !arrange)
        return stackOf(views.map(({ name, least }) => part(name, 0, least * rem)));
    const there = new Set(views.map(({ name }) => name));
    const parts = arrange(room).flatMap((of) => pruned(of, there));
    return { direction: "column", parts, isStack: false };
}

/* A stack below what else a page shows: at least as high as the window, and scrolled to. */
export function StackedPanes({ page, views }: { page: string; views: FixedView[] }) {
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const of = (name: string) => views.find((view) => view.name === name)!;
    return (
        <div class={page} ref={box}>
            <Panes
                layout={`${page}:below:${views.map(({ name }) => name)}`}
                tree={fixedTree(views, "stacked", null)}
                scroller={{ ...size, height: innerHeight / size.scale }}
                titleOf={(name) => of(name).title}
                draw={(name) => of(name).view}
            />
        </div>
    );
}

interface FixedPanesProps {
    page: string; /* what is dragged is kept for each page */
    views: FixedView[];
    arrange: Arrange | null; /* null: always a stack */
    seen?: number; /* share of the height that a stack fills at first */
    children?: ComponentChildren; /* below the panes, scrolled to */
}

export function FixedPanes({ page, views, arrange, seen = 1, children }: FixedPanesProps) {
    const main = useRef<HTMLElement>(null);
    const size = useSize(main);
    const room = roomNow.value;
    const tree = fixedTree(views, room, arrange);
    const of = (name: string) => views.find((view) => view.name === name)!;
    return (
        <div class="body">
            <main ref={main} class={`${page} ${tree.isStack ? "stacked" : room}`}>
                <Panes
                    layout={`${page}:${room}:${views.map(({ name }) => name)}`}
                    tree={tree}
                    scroller={{ ...size, height: seen * size.height }}
                    titleOf={(name) => of(name).title}
                    draw={(name) => of(name).view}
                />
                {children}
            </main>
        </div>
    );
}
