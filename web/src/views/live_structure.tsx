// What the call of a record called, as call paths; for one that called nothing, its caller.
import { useMemo, useRef } from "preact/hooks";
import { LiveRecord } from "../api/live_types";
import { treeOfLane } from "../canvas/record_tree";
import { formatCount, formatTime, plural } from "../format/units";
import { shortName } from "../state/live";
import { depthLimit, structureKind } from "../state/store";
import { Force } from "./force";
import { Icicle } from "./icicle";
import { Choice } from "./live_panel";
import { useSize } from "./use_size";

const forceHeight = 200;

export function LiveStructure({ of }: { of: LiveRecord }) {
    const box = useRef<HTMLDivElement>(null);
    const svg = useRef<SVGSVGElement>(null);
    const { width, scale } = useSize(box);
    const lost = of.collection === "anomalies" ? of.record.outlier_severity * 1000 : 0;
    const tree = useMemo(() => treeOfLane(of.lanes[0], lost), [of]);
    if (!tree) return null;
    const name = (region: number) => shortName(tree.names[region]);
    const wide = Math.max(50, width - 4);
    const total = Math.max(tree.nodes[0].inclusive_ns, 1);
    const titleOf = (i: number) => {
        const node = tree.nodes[i];
        const many = node.calls === 1 ? "" : ` × ${formatCount(node.calls)}`;
        return `${name(node.region)}${many}: ${formatTime(node.inclusive_ns)}, own time ${formatTime(node.exclusive_ns)}`;
    };
    const shared = {
        nodes: tree.nodes,
        name,
        depthLimit: depthLimit.value,
        isMarked: () => false,
        titleOf,
        scale,
        svg,
    };
    return (
        <div class="live-structure">
            <h3>
                Structure{" "}
                <Choice
                    label="Structure drawn as"
                    value={structureKind.value}
                    options={[
                        ["icicle", "Icicle"],
                        ["force", "Force"],
                    ]}
                    choose={(kind) => (structureKind.value = kind)}
                />
            </h3>
            <div ref={box}>
                {width > 0 &&
                    (structureKind.value === "icicle" ? (
                        <Icicle
                            {...shared}
                            pxPerNs={wide / total}
                            label="Call paths of this call, by time"
                        />
                    ) : (
                        <Force
                            {...shared}
                            width={wide}
                            height={forceHeight}
                            label="Call paths of this call"
                        />
                    ))}
            </div>
            <p class="dim live-note">
                {tree.isCaller
                    ? `It called nothing: this is its caller, with ${plural(tree.nCalls - 1, "call")} that the record has.`
                    : `${plural(tree.nCalls, "call")} that the record has.`}{" "}
                <span class="strange-key">▲</span> strange
            </p>
        </div>
    );
}
