// The views there are, in the order in which they stand. To add one: a row here, and its component in
// the table of views/app.tsx, which does not compile without it. It is then among the buttons at the
// top, in the URL, in the help, and has a title and a place; `views/panel.tsx` frames it.

interface ViewRow {
    name: string; /* in the URL, too */
    title: string;
    says: string; /* what it is for, in the help */
    isFirst?: true; /* shown at first */
    is?: "below" | "details"; /* under all others; or beside them, with what is chosen */
    isTable?: true; /* can be saved as one, beside its picture: it calls useTable() */
    unfiltered?: string; /* what it shows, whatever passes the filter; without: it follows, or says itself how far */
}

export const viewTable = [
    {
        name: "overview",
        title: "Overview",
        says: "every execution is a point; choose many with the lasso",
        isFirst: true,
    },
    {
        name: "why",
        title: "Why",
        says: "where the time was lost, what it waited for, what sets it apart",
        is: "details",
        isTable: true,
        isFirst: true,
        unfiltered: "the selected execution",
    },
    {
        name: "structure",
        title: "Structure",
        says: "what it called, beside a typical execution",
        isFirst: true,
        unfiltered: "the selected execution",
    },
    {
        name: "timeline",
        title: "Timeline",
        says: "its calls and messages over time, and those of the ranks it talks to",
        isFirst: true,
        is: "below",
        unfiltered: "all calls on its lanes",
    },
    {
        name: "ranks",
        title: "Ranks",
        says: "who is slow again and again, and who waits for it",
        isTable: true,
    },
    {
        name: "regions",
        title: "Regions",
        says: "all functions of the trace, with their times",
        isTable: true,
    },
    {
        name: "quality",
        title: "Trace quality",
        says: "what was damaged or repaired, how well the clocks agree",
        isTable: true,
        unfiltered: "the whole run",
    },
    {
        name: "map",
        title: "Rank map",
        says: "all ranks over time: where time was lost, what cost the run, waited or went into a function; drag to see calls",
        isTable: true,
    },
    {
        name: "messages",
        title: "Messages",
        says: "who sent how much to whom, and who waited for it; a click shows the two in the timeline",
        isTable: true,
    },
    {
        name: "query",
        title: "Query",
        says: "SQL about the run: a table or a chart of what it finds; it only reads",
        isTable: true,
        unfiltered: "the whole run: only what the query says is left out",
    },
] as const satisfies readonly ViewRow[];

export type ViewName = (typeof viewTable)[number]["name"];
export const viewNames: readonly ViewName[] = viewTable.map((view) => view.name);

export function viewRow(name: ViewName): ViewRow & { name: ViewName } {
    return viewTable.find((view) => view.name === name)!;
}

/* Of these what stands where. In a stack there is no column for details. */
export function viewsThatAre(what: ViewRow["is"], of: readonly ViewName[]): ViewName[] {
    return viewNames.filter((name) => of.includes(name) && viewRow(name).is === what);
}

const manyRanks = 64; /* of so many nobody knows which to look at */

/* Shown at first of a run with so many lanes: with many, all of them are the way in. */
export function firstViewsOf(lanes: number): ViewName[] {
    return lanes > manyRanks ? viewsOfMany : viewsAtFirst;
}
const viewsOfMany: ViewName[] = ["overview", "why", "timeline", "map"];

export const viewsAtFirst: ViewName[] = viewTable
    .filter((view) => "isFirst" in view)
    .map(({ name }) => name);
