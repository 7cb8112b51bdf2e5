// The views there are, in the order in which they stand. To add one: a row here, and its component in
// the table of views/app.tsx, which does not compile without it. It is then among the buttons at the
// top, in the URL, in the help, and has a title and a place; `views/panel.tsx` frames it.

interface ViewRow {
    name: string; /* in the URL, too */
    title: string;
    says: string; /* what it is for, in the help */
    atFirst: "always" | "wide" | "never"; /* shown at first; "wide": on a screen with room */
    isBelow?: true; /* as wide as all others together, below them */
    isPicture?: true; /* can be saved as one: it calls usePicture() */
}

export const viewTable = [
    {
        name: "overview",
        title: "Overview",
        says: "every execution is a point; choose many with the lasso",
        atFirst: "always",
        isPicture: true,
    },
    {
        name: "why",
        title: "Why",
        says: "where the time was lost, what it waited for, what sets it apart",
        atFirst: "wide",
    },
    {
        name: "structure",
        title: "Structure",
        says: "what it called, beside a typical execution",
        atFirst: "always",
        isPicture: true,
    },
    {
        name: "timeline",
        title: "Timeline",
        says: "its calls and messages over time, and those of the ranks it talks to",
        atFirst: "always",
        isBelow: true,
        isPicture: true,
    },
    {
        name: "ranks",
        title: "Ranks",
        says: "who is slow in every execution, and who waits for it",
        atFirst: "never",
    },
    {
        name: "regions",
        title: "Regions",
        says: "all functions of the trace, with their times",
        atFirst: "never",
    },
    {
        name: "quality",
        title: "Trace quality",
        says: "what was damaged or repaired, how well the clocks agree",
        atFirst: "never",
    },
] as const satisfies readonly ViewRow[];

export type ViewName = (typeof viewTable)[number]["name"];
export const viewNames: readonly ViewName[] = viewTable.map((view) => view.name);

export function viewRow(name: ViewName): ViewRow & { name: ViewName } {
    return viewTable.find((view) => view.name === name)!;
}

export function viewsAtFirst(isWide: boolean): ViewName[] {
    return viewTable
        .filter(({ atFirst }) => atFirst === "always" || (atFirst === "wide" && isWide))
        .map(({ name }) => name);
}
