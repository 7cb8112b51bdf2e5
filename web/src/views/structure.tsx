// The structure of the selected execution, and below it that of a typical one at the same scale.
import { useMemo, useRef } from "preact/hooks";
import { getJson } from "../api/http";
import { Tree, TreeNode } from "../api/types";
import { regionColour } from "../format/colour";
import { formatTime } from "../format/units";
import { isPathMarked, togglePath } from "../state/marks";
import { regionName } from "../state/names";
import { useQuery } from "../state/query";
import {
    callColours,
    depthLimit,
    foi,
    isFew,
    isStretched as stretched,
    regions,
    scoresVersion,
    selected,
    structureKind,
    typicalNow,
} from "../state/store";
import { Force } from "./force";
import { Icicle } from "./icicle";
import { strangeWords } from "./icicle_layout";
import { Choice } from "./live_panel";
import { Sentence } from "./name";
import { Await, Panel } from "./panel";
import { usePicture } from "./pictures";
import { structureFigure } from "./structure_figure";
import { rootDepth as depthOfRoot, shownNow } from "../state/selected";
import { ownLocation } from "../state/timeline";
import { colours } from "./timeline_scene";
import { useSize } from "./use_size";

export function pathOf(nodes: TreeNode[], i: number): string[] {
    const path: string[] = [];
    for (let at = i; at >= 0; at = nodes[at].parent) path.unshift(regionName(nodes[at].region));
    return path;
}

function Tools() {
    return (
        <>
            <label>
                <span class="visually-hidden">Drawn as</span>
                <Choice
                    value={structureKind.value}
                    options={[
                        ["icicle", "Icicle"],
                        ["force", "Force"],
                    ]}
                    choose={(kind) => (structureKind.value = kind)}
                />
            </label>
            <label title="What is strange is drawn however deep it lies">
                depth{" "}
                <input
                    class="short"
                    type="number"
                    min="1"
                    max="64"
                    value={depthLimit.value}
                    onInput={(e) =>
                        (depthLimit.value = Math.max(
                            1,
                            Math.min(64, Number(e.currentTarget.value) || 1),
                        ))
                    }
                />
            </label>
        </>
    );
}

function Drawing({ tree, typical }: { tree: Tree; typical: Tree | null }) {
    const box = useRef<HTMLDivElement>(null);
    const { width, height, scale: unit } = useSize(box);
    const ownSvg = useRef<SVGSVGElement>(null);
    const usualSvg = useRef<SVGSVGElement>(null);
    const isStretched = stretched.value;
    const nodes = tree.nodes;
    const usual = typical?.nodes ?? [];
    const own = nodes[0]?.inclusive_ns ?? 1;
    const usually = usual[0]?.inclusive_ns ?? 0;
    const here = shownNow()?.usual_duration_ns;
    const usualTitle = `${typicalNow.value.paths} ${formatTime(usually)}`;
    const wide = Math.max(50, width - 16);
    const scale = wide / Math.max(own, usually, 1);
    const isMarked = (of: TreeNode[]) => (i: number) => isPathMarked(pathOf(of, i));
    const pick = (i: number) => togglePath(pathOf(nodes, i));
    // As in the timeline, where its root lies deeper.
    const rootDepth = depthOfRoot.value ?? 0;
    const byKind = useMemo(() => colours("kind"), [regions.value]);
    const colourOf =
        callColours.value === "kind"
            ? (region: number, depth: number) => byKind(region, depth + rootDepth)
            : undefined;
    const isIcicle = structureKind.value === "icicle";
    usePicture("structure", () =>
        structureFigure({
            own: ownSvg.current!,
            usual: usualSvg.current,
            usualTitle,
            ns: isIcicle ? [own, usually] : null,
            pxPerNs: isStretched ? [wide / own, wide / Math.max(usually, 1)] : [scale, scale],
            nodes: isIcicle ? [...nodes, ...usual] : nodes,
            colour: colourOf ?? ((region) => regionColour(regionName(region))),
        }),
    );
    return (
        <>
            <div class="structure" ref={box}>
                {width > 0 &&
                    (isIcicle ? (
                        <Icicle
                            nodes={nodes}
                            name={regionName}
                            pxPerNs={isStretched ? wide / own : scale}
                            depthLimit={depthLimit.value}
                            isMarked={isMarked(nodes)}
                            pick={pick}
                            colourOf={colourOf}
                            scale={unit}
                            label="Call paths of this execution, by time"
                            svg={ownSvg}
                        />
                    ) : (
                        <Force
                            nodes={nodes}
                            name={regionName}
                            width={wide}
                            height={Math.max(160, height - 130)}
                            depthLimit={depthLimit.value}
                            isMarked={isMarked(nodes)}
                            pick={pick}
                            scale={unit}
                            label="Call paths of this execution"
                            svg={ownSvg}
                        />
                    ))}
                {usual.length > 0 && (
                    <div class="typical">
                        <h3>
                            <span>
                                <Sentence of={usualTitle} />
                                {here && !isFew.value && (
                                    <small>
                                        <Sentence
                                            of={`; typical with the same calls on this rank: ${formatTime(here)}`}
                                        />
                                    </small>
                                )}
                            </span>
                            <label>
                                <input
                                    type="checkbox"
                                    checked={isStretched}
                                    onChange={(e) =>
                                        (stretched.value = e.currentTarget.checked)
                                    }
                                />{" "}
                                stretch both to the full width
                            </label>
                        </h3>
                        {width > 0 && (
                            <Icicle
                                nodes={usual}
                                name={regionName}
                                pxPerNs={isStretched ? wide / Math.max(usually, 1) : scale}
                                depthLimit={depthLimit.value}
                                isMarked={isMarked(usual)}
                                colourOf={colourOf}
                                scale={unit}
                                label="Call paths of most executions"
                                svg={usualSvg}
                            />
                        )}
                    </div>
                )}
            </div>
            <p class="legend">
                {isIcicle ? "Width: time" : "Area: time in the call itself"} ·{" "}
                <span class="strange-key">▲</span> {strangeWords(typicalNow.value.than)}
            </p>
        </>
    );
}

export function StructureView() {
    const id = foi.value?.id;
    const tree = selected.value;
    const own = useQuery<Tree>(
        id === undefined || tree === null ? null : `${id}/${tree}`,
        (abort) => getJson(`/fois/${id}/executions/${tree}/tree`, abort),
        scoresVersion.value,
    );
    // With the times that are typical of calls there: those of other ranks would say that it is slow, or fast.
    const location = ownLocation.value;
    const typical = useQuery<Tree>(
        id === undefined || location === null ? null : `${id} typical ${location}`,
        (abort) => getJson(`/fois/${id}/typical?location=${location}`, abort),
    );
    return (
        <Panel name="structure" tools={<Tools />}>
            <Await
                of={own}
                what="the structure"
                empty="Choose an execution to see what it called."
            >
                {(loaded) => <Drawing tree={loaded} typical={typical.value} />}
            </Await>
        </Panel>
    );
}
