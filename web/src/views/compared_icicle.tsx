// The difference between runs as icicles of call paths, before above after, at one scale: a path is as
// wide as its time in an execution, and coloured by how that changed.
import { useRef } from "preact/hooks";
import { ComparedNode, ComparisonTree, Pair } from "../api/compare_types";
import {
    inclusiveTimes,
    ownTimes,
    placePaths,
    PlacedPath,
    Side,
    sides,
} from "../canvas/difference";
import { Key } from "../canvas/figure";
import { escapeXml } from "../canvas/svg_pen";
import {
    changeColour,
    changeOf,
    formatCalls,
    formatChange,
    isSure,
    signs,
} from "../format/change";
import { css, inkOn } from "../format/colour";
import { formatTime, plural } from "../format/units";
import { firstThatFits } from "./node_text";
import { Empty } from "./panel";
import { Picture, pictureOfSvg, usePicture } from "./pictures";
import { verdictWord } from "../format/rank_words";
import { cssColour } from "./inks";
import { useSize } from "./use_size";

const rowHeight = 24;
const legendSteps = [-0.5, -0.2, -0.05, 0, 0.05, 0.2, 0.5];
const stepText = (change: number) =>
    change === 0 ? "same" : formatChange(change).replace(".0", "");

/* What the colours of changes mean. */
export const changeKeys = (): Key[] =>
    legendSteps.map((change) => ({
        colour: css(changeColour(change)),
        text: stepText(change),
    }));

export interface DifferenceProps {
    tree: ComparisonTree;
    kind: number | null /* of execution, among those of the tree; null: all */;
    shown: readonly Side[];
    zoomed: string | null /* the path that fills the picture */;
    chosen: string | null;
    choose?: (path: string) => void;
}

function calls([before, after]: Pair): string {
    return before === after
        ? plural(before, "call").replace(/^[\d,]+/, formatCalls(before))
        : `${formatCalls(before)} calls before, ${formatCalls(after)} after`;
}

function pathTitle(node: ComparedNode, all: Pair, own: Pair, isOfKind: boolean): string {
    const change = changeOf(...all);
    const said = [
        `${node.path}: ${formatTime(all[0])} before, ${formatTime(all[1])} after in an execution`,
        ` (${formatChange(change)}), own time ${formatTime(own[0])} and ${formatTime(own[1])}`,
    ];
    const isCalled = node.calls[0] > 0 || node.calls[1] > 0; /* not only what is below it */
    if (!isOfKind && isCalled)
        said.push(`; ${calls(node.calls)}; ${verdictWord(node.verdict)}`);
    if (node.from) said.push(`, was ${node.from}`);
    if (node.is_waiting) said.push("; it may wait");
    return said.join("");
}

/* What is sure of its own time; not where that went the other way than all below it together. */
function signOf({ verdict }: ComparedNode, [before, after]: Pair): string {
    const isOther =
        (verdict === "slower" && after < before) || (verdict === "faster" && after > before);
    return isSure(verdict) && !isOther ? `${signs[verdict]} ` : "";
}

function Path(props: {
    of: PlacedPath;
    node: ComparedNode;
    side: 0 | 1;
    all: Pair;
    own: Pair;
    isOfKind: boolean;
    isChosen: boolean;
    choose?: (path: string) => void;
}) {
    const { of, node, all } = props;
    const colour = changeColour(changeOf(...all));
    const title =
        pathTitle(node, all, props.own, props.isOfKind) +
        (of.hidden ? `; ${plural(of.hidden, "call path")} below not drawn` : "");
    const sign = props.isOfKind ? "" : signOf(node, all);
    const named = `${sign}${node.name}`;
    const timed = `${named}  ${formatTime(all[props.side])}`;
    const changed = `${timed}  ${formatChange(changeOf(...all))}`;
    const text = firstThatFits([changed, timed, named], of.width - 10);
    const act = props.choose && (() => props.choose!(node.path));
    return (
        <g
            transform={`translate(${of.x + 1},${of.depth * rowHeight + 1})`}
            class={`node${props.isChosen ? " marked" : ""}`}
            role={act ? "button" : undefined}
            tabindex={act ? 0 : undefined} /* SVG knows no tabIndex */
            aria-label={act && (text ? `${text}: ${title}` : title)}
            aria-pressed={act && props.isChosen}
            onClick={act}
            onKeyDown={(event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault();
                act?.();
            }}
        >
            <title>{title}</title>
            <rect
                width={Math.max(0.8, of.width - 1)}
                height={rowHeight - 2}
                fill={css(colour)}
            />
            {text && (
                <text x={5} y={rowHeight / 2 + 3} fill={inkOn(colour)}>
                    {text}
                </text>
            )}
        </g>
    );
}

export function ChangeLegend() {
    return (
        <p
            class="change-legend"
            aria-label="Colours: time of a path and below it, against before"
        >
            <span>faster</span>
            {legendSteps.map((change) => {
                const colour = changeColour(change);
                return (
                    <span
                        class="swatch"
                        style={{ background: css(colour), color: inkOn(colour) }}
                    >
                        {stepText(change)}
                    </span>
                );
            })}
            <span>slower</span>
            <span class="dim">
                %: of its time before; ▲ slower, ▼ faster, + new, − gone, ↷ moved:
                significantly, in own time
            </span>
        </p>
    );
}

/* Before above after; `scale` pixels of the page per unit. */
export function DifferenceTrees(props: DifferenceProps & { width: number; scale: number }) {
    const { tree, kind, shown, choose, width, scale } = props;
    const times = inclusiveTimes(tree, kind);
    const own = ownTimes(tree, kind);
    const found = tree.nodes.findIndex((node) => node.path === props.zoomed);
    const root = Math.max(0, found);
    const whole = Math.max(...shown.map((side) => times[root]?.[sides.indexOf(side)] ?? 0));
    const drawn = shown.map((name) => {
        const side = sides.indexOf(name) as 0 | 1;
        return { name, side, placed: placePaths(tree.nodes, times, side, root, width, whole) };
    });
    return (
        <div class="difference-trees">
            {drawn.map(({ name, side, placed }) => {
                const height = (Math.max(0, ...placed.map((p) => p.depth)) + 1) * rowHeight + 2;
                return (
                    <section>
                        <h3>
                            {name === "before" ? "Before" : "After"}
                            <span class="dim">
                                {" "}
                                {formatTime(times[root]?.[side] ?? 0)} in an execution
                            </span>
                        </h3>
                        {placed.length ? (
                            <svg
                                class="icicle"
                                width={(width + 2) * scale}
                                height={height * scale}
                                viewBox={`0 0 ${width + 2} ${height}`}
                                role="group"
                                aria-label={`Call paths ${name}, as wide as their time`}
                            >
                                {placed.map((of) => (
                                    <Path
                                        key={of.node}
                                        of={of}
                                        node={tree.nodes[of.node]}
                                        side={side}
                                        all={times[of.node]}
                                        own={own[of.node]}
                                        isOfKind={kind !== null}
                                        isChosen={tree.nodes[of.node].path === props.chosen}
                                        choose={choose}
                                    />
                                ))}
                            </svg>
                        ) : (
                            <Empty>There is nothing of it on this side.</Empty>
                        )}
                    </section>
                );
            })}
        </div>
    );
}

/* Both sides under each other, as they are on the page. */
function pictureOf(box: HTMLElement): Picture {
    const parts: string[] = [];
    let width = 0;
    let y = 0;
    box.querySelectorAll<SVGSVGElement>("svg.icicle").forEach((svg) => {
        const said = svg.parentElement!.querySelector("h3")!.textContent ?? "";
        const drawn = pictureOfSvg(svg, y + rowHeight);
        parts.push(
            `<text x="0" y="${y + 16}" fill="${cssColour("--ink")}">${escapeXml(said)}</text>`,
            drawn.content,
        );
        width = Math.max(width, drawn.width);
        y += drawn.height + rowHeight;
    });
    return { width, height: y, content: parts.join("\n") };
}

export function DifferenceIcicle(props: DifferenceProps) {
    const box = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    usePicture("difference", () => pictureOf(box.current!));
    return (
        <div class="difference" ref={box}>
            <DifferenceTrees
                {...props}
                width={Math.max(40, size.width - 18)}
                scale={size.scale}
            />
            <ChangeLegend />
        </div>
    );
}
