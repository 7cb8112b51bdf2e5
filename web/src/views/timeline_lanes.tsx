// What stands beside the lanes of the timeline: which rank or thread each is, what folds its calls and its
// threads and streams, and the node or device above those that ran there. No stops of the Tab key: the timeline has keys for all of it.
import { runKeys } from "../state/keys";
import { areThreadsShown, Grouping } from "../state/lane_groups";
import { Block, headingHeight, nameHeight, pinnedHeight, shownTop } from "../canvas/rows";
import { axisHeight } from "../canvas/timeline_draw";
import { plural } from "../format/units";
import { locationsById, ranksOfRun } from "../state/places";
import { openRanks, openThreads, pinnedRanks } from "../state/store";
import { left, nameOfLane, nameOfLocation } from "./timeline_scene";

const nestedBy = 10;

function groupingOf(own: number | null): Grouping {
    const ownRank = own === null ? null : (locationsById.value.get(own)?.rank ?? null);
    return {
        threads: ranksOfRun.value,
        folds: openThreads.value,
        own: ownRank,
        pinned: pinnedRanks.value,
    };
}

/* Whether it shows them now is asked of what is shown: threads that were asked for are, too. */
export function toggleThreads(rank: number, own: number | null): void {
    const areShown = areThreadsShown(rank, groupingOf(own));
    openThreads.value = { ...openThreads.value, [rank]: !areShown };
}

export function togglePin(rank: number): void {
    const now = pinnedRanks.value;
    pinnedRanks.value = now.includes(rank) ? now.filter((r) => r !== rank) : [...now, rank];
}

export function toggleCalls(location: number, isOpen: boolean): void {
    openRanks.value = { ...openRanks.value, [location]: !isOpen };
}

interface NamesProps {
    blocks: Block[];
    own: number | null; /* location of the selected execution */
    scroll: number;
    px: (units: number) => string;
    isOpen: (location: number) => boolean;
}

/* "4 threads, 2 streams": those below the first thread. */
function belowWords({ threads = 0, streams = 0 }: Block): string {
    const of = threads - streams;
    return [of && plural(of, "thread"), streams && plural(streams, "stream")]
        .filter(Boolean)
        .join(", ");
}

/* "rank 3 on node17, with 4 threads" */
function inFull(block: Block): string {
    const place = locationsById.value.get(block.location);
    const node = place?.node ? ` on ${place.node}` : "";
    const threads = block.threads ? `, with ${belowWords(block)}` : "";
    const name = block.isNested && place?.name && !place.is_gpu ? ` (${place.name})` : "";
    return `${nameOfLocation(block.location)}${name}${node}${threads}`;
}

function LaneName({ block, ...props }: NamesProps & { block: Block }) {
    const { px, own, scroll } = props;
    const top = axisHeight + scroll + shownTop(block, scroll);
    const isOpen = props.isOpen(block.location);
    const rank = locationsById.value.get(block.location)?.rank ?? 0;
    const isPinned = pinnedRanks.value.includes(rank);
    const areShown = areThreadsShown(rank, groupingOf(own));
    const indent = block.isNested ? nestedBy : 0;
    return (
        <>
            {block.heading && (
                <span
                    class={`node-name${block.isNested ? " device-name" : ""}`}
                    style={{ top: px(top - headingHeight), left: px(2 + indent) }}
                >
                    {block.heading}
                </span>
            )}
            <button
                class={`rank-name${block.location === own ? " own" : ""}`}
                style={{
                    top: px(top),
                    left: px(2 + indent),
                    width: px(left - 6 - indent - (block.isNested ? 0 : 12)),
                }}
                tabIndex={-1}
                aria-expanded={isOpen}
                title={inFull(block)}
                onClick={() => toggleCalls(block.location, isOpen)}
            >
                {isOpen ? "▾" : "▸"} {nameOfLane(block)}
            </button>
            {!block.isNested && (
                <button
                    class={`lane-pin${isPinned ? " on" : ""}`}
                    style={{ top: px(top), left: px(left - 18) }}
                    tabIndex={-1}
                    aria-pressed={isPinned}
                    aria-label={`Keep rank ${rank} in sight`}
                    title={`Keep it in sight (${runKeys.keyOf("pin")})`}
                    onClick={() => togglePin(rank)}
                >
                    <svg viewBox="0 0 12 12" aria-hidden="true">
                        <path d="M4 1h4l-.5 4L9.5 7h-3v4l-.5 1-.5-1V7h-3L4.5 5z" />
                    </svg>
                </button>
            )}
            {!!block.threads && (
                <button
                    class="lane-threads"
                    style={{ top: px(top + nameHeight), width: px(left - 6) }}
                    tabIndex={-1}
                    aria-expanded={areShown}
                    title={`${belowWords(block)} (${runKeys.keyOf("threads")})`}
                    onClick={() => toggleThreads(rank, own)}
                >
                    {areShown ? "−" : "+"}{" "}
                    {block.streams && block.streams < block.threads
                        ? `${block.threads - block.streams} thr., ${block.streams} str.`
                        : belowWords(block)}
                </button>
            )}
        </>
    );
}

export function LaneNames(props: NamesProps) {
    const above = pinnedHeight(props.blocks);
    // Below the axis, or what is pinned, they would cover it.
    const isSeen = (block: Block) =>
        block.isPinned || shownTop(block, props.scroll) >= above - 4;
    return (
        <>
            {props.blocks.filter(isSeen).map((block) => (
                <LaneName key={block.location} block={block} {...props} />
            ))}
        </>
    );
}
