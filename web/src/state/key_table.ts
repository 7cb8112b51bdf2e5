// Keys as rows of one table for each page: a row is what a key does, in words, and what it calls. What hears keys, the help
// and what tooltips say of keys are made of it.
import { isHelpOpen } from "./overlays";
import { moved } from "./movable";

type Act = [
    key: string,
    call?: (event: KeyboardEvent) => void,
]; /* as events name it, after "Ctrl+" */

export interface KeyRow {
    says: string;
    acts: Record<string, Act>; /* without a call: `where` or the browser does it */
    where?: "timeline"; /* heard by it alone, while it has the focus */
    join?: string; /* of keys, in the help */
    shown?: string; /* in their place */
}

type NameOf<Row> = Row extends { acts: infer Acts } ? keyof Acts & string : never;

export interface KeyTable<Name extends string> {
    help: [keys: string, says: string][];
    keyOf(name: Name): string; /* for tooltips: "Zoom out (S)" */
    heard(event: KeyboardEvent, where?: "timeline"): [Name, Act] | undefined;
}

const shownAs: Record<string, string> = {
    " ": "Space",
    Escape: "Esc",
    ArrowLeft: "←",
    ArrowRight: "→",
    ArrowUp: "↑",
    ArrowDown: "↓",
};

export function keyTable<const Row extends KeyRow>(rows: Row[]): KeyTable<NameOf<Row>> {
    type Name = NameOf<Row>;
    const actsOf = (row: Row) => Object.entries(row.acts) as [Name, Act][];
    const print = ([, [key]]: [Name, Act]) => shownAs[key] ?? key;
    return {
        help: rows.map((row) => [
            row.shown ??
                actsOf(row)
                    .map(print)
                    .join(row.join ?? " / "),
            row.where ? `in the ${row.where}: ${row.says}` : row.says,
        ]),
        keyOf: (name) => print(rows.flatMap(actsOf).find(([of]) => of === name)!),
        heard: (event, where) => {
            const key = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + event.key;
            return rows
                .filter((row) => row.where === where)
                .flatMap(actsOf)
                .find(([, [of]]) => of.toLowerCase() === key.toLowerCase());
        },
    };
}

/* What all pages have. */
export const moveRows = [
    {
        says: "zoom in / out (in the view last pointed at)",
        acts: {
            zoomIn: ["W", () => moved()?.zoom(1.5)],
            zoomOut: ["S", () => moved()?.zoom(1 / 1.5)],
        },
    },
    {
        says: "pan left / right",
        acts: { left: ["A", () => moved()?.pan(-0.2)], right: ["D", () => moved()?.pan(0.2)] },
    },
] as const satisfies KeyRow[];

export const fitRow = (says: string) =>
    ({ says, acts: { fit: ["F", () => moved()?.fit()] } }) as const satisfies KeyRow;

export const helpRow = {
    says: "this help",
    acts: { help: ["?", () => (isHelpOpen.value = !isHelpOpen.value)] },
} as const satisfies KeyRow;

/* Keys there are the field's. */
export function isTyping(target: EventTarget | null): boolean {
    const element = target as HTMLElement | null;
    return !!element?.closest?.(
        "input:not([type=range]):not([type=checkbox]), textarea, select",
    );
}

type Heard = Pick<KeyTable<string>, "heard">;

let heard: Heard | null = null;

/* Each page has keys of its own. */
export function hearKeys(table: Heard): void {
    heard = table;
}

export function listenToKeys(first: Heard): void {
    hearKeys(first);
    addEventListener("keydown", (event) => {
        const call = event.altKey ? undefined : heard?.heard(event)?.[1][1];
        const isHeard = event.key === "Escape" || event.ctrlKey || event.metaKey;
        if (!call || (isTyping(event.target) && !isHeard)) return;
        event.preventDefault();
        call(event);
    });
}
