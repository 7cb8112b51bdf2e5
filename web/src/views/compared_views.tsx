// The views of a comparison, framed: of runs, or of a run of a history against those before it.
import { useEffect } from "preact/hooks";
import { Comparison, ComparisonTree } from "../api/compare_types";
import { sides, zoomAt } from "../canvas/difference";
import { isSure } from "../format/change";
import {
    choosePath,
    isSureOnly,
    kindShown,
    listedPaths,
    pathChosen,
    pathOrder,
    Widths,
    widthsShown,
    zoomedPath,
} from "../state/compared";
import { DifferenceIcicle } from "./compared_icicle";
import { kindsTable, KindTable, pathsTable, PathTable, sortPaths } from "./compared_paths";
import { PictureButtons, saveTable } from "./export";
import { FixedView } from "./fixed_panes";
import { Choice, LivePanel } from "./live_panel";
import { Empty } from "./panel";

const widthNames: [Widths, string][] = [
    ["both", "before and after"],
    ["before", "before"],
    ["after", "after"],
];

export function DifferenceView({ tree }: { tree: ComparisonTree }) {
    const found = tree.kinds.findIndex((k) => k.kind === kindShown.value);
    const kind = found < 0 || tree.kinds.length < 2 ? null : found;
    const shown = widthsShown.value === "both" ? sides : [widthsShown.value];
    return (
        <LivePanel
            name="difference"
            title="Difference"
            tools={
                <>
                    {tree.kinds.length > 1 && (
                        <Choice
                            label="Kind of execution"
                            value={kind === null ? "" : tree.kinds[kind].kind}
                            options={[
                                ["", "all executions"],
                                ...tree.kinds.map((k): [string, string] => [k.kind, k.kind]),
                            ]}
                            choose={(said) => (kindShown.value = said || null)}
                        />
                    )}
                    <Choice
                        label="Widths"
                        value={widthsShown.value}
                        options={widthNames}
                        choose={(said) => (widthsShown.value = said)}
                    />
                    {zoomedPath.value !== null && (
                        <button
                            onClick={() => (zoomedPath.value = null)}
                            title="All of an execution (Esc)"
                        >
                            Show all
                        </button>
                    )}
                    <PictureButtons name="difference" title="Difference" />
                </>
            }
        >
            <DifferenceIcicle
                tree={tree}
                kind={kind}
                shown={shown}
                zoomed={zoomedPath.value}
                chosen={pathChosen.value}
                choose={(path) => {
                    zoomedPath.value = zoomAt(tree, path, zoomedPath.value);
                    pathChosen.value = path;
                }}
            />
        </LivePanel>
    );
}

export function PathsView({ of, name }: { of: Comparison; name: string }) {
    const wanted = isSureOnly.value ? of.paths.filter((x) => isSure(x.verdict)) : of.paths;
    const paths = sortPaths(wanted, pathOrder.value);
    const listed = paths.map((x) => x.path);
    useEffect(() => {
        listedPaths.value = listed;
    }, [listed.join("\n")]);
    const csv = () =>
        saveTable(pathsTable(sortPaths(of.paths, pathOrder.value)), "paths", name);
    return (
        <LivePanel
            name="paths"
            title="Changed paths"
            tools={
                <>
                    <label>
                        <input
                            type="checkbox"
                            checked={!isSureOnly.value}
                            onChange={(e) => (isSureOnly.value = !e.currentTarget.checked)}
                        />{" "}
                        all {of.paths.length} paths
                    </label>
                    <button onClick={csv} title="All paths as a CSV file">
                        CSV
                    </button>
                </>
            }
        >
            {paths.length ? (
                <PathTable
                    of={of}
                    paths={paths}
                    order={pathOrder.value}
                    sort={(order) => (pathOrder.value = order)}
                    chosen={pathChosen.value}
                    choose={choosePath}
                />
            ) : (
                <Empty>No call path changed significantly.</Empty>
            )}
        </LivePanel>
    );
}

/* Nothing where all executions are of one kind. */
function KindsView({ of }: { of: Comparison }) {
    return (
        <LivePanel
            name="kinds"
            title="Kinds of execution"
            tools={
                <button
                    onClick={() => saveTable(kindsTable(of.kinds), "kinds")}
                    title="Kinds of execution as a CSV file"
                >
                    CSV
                </button>
            }
        >
            <KindTable
                of={of}
                chosen={kindShown.value}
                choose={(kind) => (kindShown.value = kind)}
            />
        </LivePanel>
    );
}

/* Where there are several. */
export function kindsPane(of: Comparison): FixedView[] {
    if (of.kinds.length < 2) return [];
    return [
        { name: "kinds", title: "Kinds of execution", least: 14, view: <KindsView of={of} /> },
    ];
}
