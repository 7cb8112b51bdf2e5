// The drawings of a report: those of the page, at one width, which grows and shrinks with the
// paper. Colours are the names of those of the page, so that they follow light, dark and print.
import { useMemo, useState } from "preact/hooks";
import { ComparedNode, ComparisonTree, Trend } from "../api/compare_types";
import { Ranks, Shown, Tree, TreeNode } from "../api/types";
import { makeAxis, spreadOut } from "../canvas/axis";
import { sides, zoomAt } from "../canvas/difference";
import { Calls, heightOf, layOutBlocks, plainLanes } from "../canvas/rows";
import { sample } from "../canvas/sampling";
import { axisHeight, chooseArrows, MessageColumns } from "../canvas/timeline_draw";
import { Span } from "../canvas/window";
import { typicalWords } from "../format/typical_words";
import { formatCount, formatTime } from "../format/units";
import { outlineColour } from "../format/palette";
import { kindKeys } from "../state/kinds";
import { regionName } from "../state/names";
import { Attribute, Executions, run, theme } from "../state/store";
import { ChangeLegend, DifferenceTrees } from "../views/compared_icicle";
import { Icicle, nodeTitle } from "../views/icicle";
import { colourName, inks, timelineInks } from "../views/inks";
import { LegendKeys } from "../views/legend";
import { newPen, Picture } from "../views/pictures";
import { colourPoints } from "../views/point_colours";
import { RankPicture } from "../views/rank_picture";
import { drawAxes } from "../views/scatter_overlay";
import { pointsPicture } from "../views/scatter_picture";
import { colours, left, linksOf, timelinePicture } from "../views/timeline_scene";
import { TrendPicture } from "../views/trend_chart";
import { isFewAt, keptBundle, keptJson } from "./kept";

const width = 960; /* units */
const pointsHeight = 300;
const trendHeight = 240;
const depthLimit = 8;
const margin = 0.08; /* of an execution, before and after it; as in timeline_data.ts */

function Drawn({ picture, label }: { picture: Picture; label: string }) {
    return (
        <svg
            viewBox={`0 0 ${picture.width} ${picture.height}`}
            width="100%"
            role="img"
            aria-label={label}
            dangerouslySetInnerHTML={{ __html: picture.content }}
        />
    );
}

/* What colours mean, as on the page. */
function KindLegend({ of }: { of: Iterable<{ region: number; location: number }> }) {
    return (
        <p class="legend kinds-legend" aria-label="Colours of calls">
            <LegendKeys keys={kindKeys(of)} />
        </p>
    );
}

function TreeDrawing({ address }: { address: string }) {
    const words = typicalWords(isFewAt(address));
    const tree = keptJson<Tree>(`${address}/tree`);
    const typical = keptJson<Tree>(address.replace(/\/executions\/.*/, "/typical"));
    const nodes = tree?.nodes ?? [];
    const usual = typical?.nodes ?? [];
    if (!nodes.length) return null;
    const own = nodes[0].inclusive_ns;
    const usually = usual[0]?.inclusive_ns ?? 0;
    const pxPerNs = (width - 2) / Math.max(own, usually, 1);
    const common = {
        name: regionName,
        pxPerNs,
        depthLimit,
        isMarked: () => false,
        share: width,
        colourOf: colours("kind"),
    };
    const titleOf = (of: TreeNode[]) => (i: number) =>
        nodeTitle(of[i], regionName(of[i].region), words);
    const there = [...nodes, ...usual].map(({ region }) => ({ region, location: -1 }));
    return (
        <div class="structure">
            <p>this execution: {formatTime(own)}</p>
            <Icicle
                nodes={nodes}
                label="Call paths of this execution, by time"
                titleOf={titleOf(nodes)}
                {...common}
            />
            {usual.length > 0 && (
                <>
                    <p>
                        {words.paths} {formatTime(usually)}
                    </p>
                    <Icicle
                        nodes={usual}
                        label="Call paths of most executions"
                        titleOf={titleOf(usual)}
                        {...common}
                    />
                </>
            )}
            <KindLegend of={there} />
        </div>
    );
}

function TimelineDrawing({ address, number }: { address: string; number: number }) {
    const it = keptJson<Shown & { places: number[] }>(address);
    const bundle = keptBundle(`${address}/timeline`);
    const sent = keptBundle(`${address}/messages`);
    if (!it || !bundle) return null;
    const calls = { ...bundle.columns, n: bundle.columns.begin_ns.length } as unknown as Calls;
    const messages = sent && {
        ...(sent.columns as unknown as MessageColumns),
        n: sent.columns.send_ns.length,
    };
    const around = Math.max(10, margin * (it.exit_ns - it.enter_ns));
    const window: Span = [it.enter_ns - around, it.exit_ns + around];
    const own = { location: it.location, begin_ns: it.enter_ns, end_ns: it.exit_ns };
    const links = linksOf(it);
    const isOpen = (location: number) =>
        location === it.location || links.some((link) => link.location === location);
    const blocks = layOutBlocks(plainLanes(it.places), calls, isOpen);
    const picture = timelinePicture(
        {
            window,
            left,
            width,
            height: axisHeight + heightOf(blocks),
            scroll: 0,
            blocks,
            calls,
            messages,
            arrows: messages && chooseArrows(messages, window, width - left, own, it.places),
            own,
            links,
            colour: colours("kind"),
            name: regionName,
            isMarked: () => false,
            ...timelineInks(it.verdict === "anomaly", colourName),
        },
        newPen(`t${number}`),
    );
    const there = Array.from(calls.region, (region, i) => ({
        region,
        location: calls.location[i],
    }));
    return (
        <>
            <Drawn
                picture={picture}
                label={`Calls of ${it.places.length} ranks around ${it.id}, from ${formatTime(window[0])} to ${formatTime(window[1])}`}
            />
            <KindLegend of={there} />
        </>
    );
}

function PointsDrawing({ address }: { address: string }) {
    const isDark = theme.value === "dark";
    const all = useMemo(() => {
        const bundle = keptBundle(address);
        return (
            bundle &&
            ({ ...bundle.columns, n: bundle.columns.score.length } as unknown as Executions)
        );
    }, [address]);
    if (!all) return null;
    const names: [Attribute, Attribute] = ["enter_ns", "duration_ns"];
    const axes: [ReturnType<typeof makeAxis>, ReturnType<typeof makeAxis>] = [
        makeAxis(all.enter_ns, false),
        makeAxis(all.duration_ns, true),
    ];
    const { order, firstKept } = sample(all.verdict, all.label, 100, new Set());
    const box = { left: 54, bottom: 38, width, height: pointsHeight };
    const view = {
        scaleX: width - box.left - 8,
        scaleY: pointsHeight - box.bottom - 8,
        x: box.left,
        y: 8,
    };
    const points = {
        x: spreadOut(all.enter_ns, axes[0]),
        y: spreadOut(all.duration_ns, axes[1]),
        rgba: colourPoints(all, null, "verdict", isDark),
        order,
        firstKept,
    };
    const outline = outlineColour[isDark ? "dark" : "light"];
    const picture = pointsPicture(
        points,
        { view, width, height: pointsHeight, ratio: 1, outline },
        null,
        (pen) => drawAxes(pen, axes, names, view, box, inks(colourName)),
    );
    return <Drawn picture={picture} label={`${formatCount(all.n)} executions as points`} />;
}

function RanksDrawing({ address }: { address: string }) {
    const ranks = keptJson<Ranks>(address);
    return (
        ranks && (
            <RankPicture
                ranks={ranks}
                begin_ns={run.value!.begin_ns}
                areFew={isFewAt(address)}
            />
        )
    );
}

/* The nodes have no paths of their own there: those are what their callers are called, and they. */
function withPaths(kept: ComparisonTree): ComparisonTree {
    const nodes: ComparedNode[] = [];
    for (const node of kept.nodes) {
        const caller = node.parent === null ? "" : `${nodes[node.parent].path} > `;
        nodes.push({ ...node, path: caller + node.name });
    }
    return { ...kept, nodes };
}

function DifferenceDrawing({ address }: { address: string }) {
    const tree = useMemo(() => {
        const kept = keptJson<ComparisonTree>(address);
        return kept && withPaths(kept);
    }, [address]);
    const [zoomed, setZoomed] = useState<string | null>(null);
    if (!tree) return null;
    return (
        <>
            <DifferenceTrees
                tree={tree}
                kind={null}
                shown={sides}
                zoomed={zoomed}
                chosen={null}
                choose={(path) => setZoomed(zoomAt(tree, path, zoomed))}
                width={width - 2}
                scale={1}
            />
            <ChangeLegend />
        </>
    );
}

/* One series: "/history/2" is the third. */
function TrendDrawing({ address }: { address: string }) {
    const at = address.lastIndexOf("/");
    const trend = keptJson<Trend>(address.slice(0, at));
    const series = trend?.series[Number(address.slice(at + 1))];
    return trend && series ? (
        <div class="trend-chart">
            <TrendPicture
                trend={trend}
                series={series}
                chosen={null}
                width={width}
                height={trendHeight}
                scale={1}
            />
        </div>
    ) : null;
}

/* What is drawn in a figure, by its data-view. */
export function Drawing(props: { view: string; address: string; number: number }) {
    const { view, address } = props;
    if (view === "tree") return <TreeDrawing address={address} />;
    if (view === "timeline") return <TimelineDrawing {...props} />;
    if (view === "points") return <PointsDrawing address={address} />;
    if (view === "ranks") return <RanksDrawing address={address} />;
    if (view === "difference") return <DifferenceDrawing address={address} />;
    if (view === "trend") return <TrendDrawing address={address} />;
    return null;
}
