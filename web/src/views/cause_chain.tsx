// What an execution goes back to, first, and who handed it on, to the call of the execution itself; each is shown in the
// timeline when it is chosen, where it has the same number.
import { useState } from "preact/hooks";
import { CauseLink, Shown } from "../api/types";
import { numberedCauses, originOf } from "../format/origin";
import { formatTime, plural } from "../format/units";
import { shortName } from "../state/names";
import { shownCause } from "../format/blame";
import { blameNow, showLink, showOrigin } from "../state/origin";
import { Name } from "./name";

const mostLinks = 6; /* of a long chain: its end, and its beginning */

function LinkItem({ link, number }: { link: CauseLink; number: number }) {
    return (
        <li value={number}>
            <button
                onClick={() => showLink(link)}
                title={`Show it in the timeline: ${link.path.join(" > ")}`}
            >
                rank {link.thread ? `${link.rank}.${link.thread}` : link.rank}:{" "}
                <b>
                    <Name of={shortName(link.function)} />
                </b>{" "}
                {formatTime(link.time_ns)}
                {link.guessed && " (by time only)"}
            </button>
        </li>
    );
}

export function CauseChain({ of }: { of: Shown }) {
    const [isWhole, setWhole] = useState(false);
    const blame = blameNow(of);
    const cause = shownCause(of, blame);
    const origin = originOf(cause, of.cause_end);
    if (!cause.length) return null;
    const links = numberedCauses(cause);
    const hidden = isWhole ? 0 : Math.max(0, links.length - mostLinks);
    const shown = links.filter((_, k) => k < mostLinks - 1 || k >= mostLinks - 1 + hidden);
    return (
        <section>
            <h3>
                {blame !== "anomaly"
                    ? "Whom it waited for"
                    : cause.length > 1 || origin?.who
                      ? "What it goes back to"
                      : "Which call lost the time"}
            </h3>
            {origin && !origin.link && (
                <p>
                    <button
                        title="Show it in the timeline"
                        onClick={() => showOrigin(origin, cause[cause.length - 1])}
                    >
                        <b>{origin.who}</b>
                    </button>
                </p>
            )}
            {origin && <p class="dim">{origin.says}</p>}
            <ol class="cause">
                {shown.map(({ link, number }, k) => (
                    <>
                        {hidden > 0 && k === mostLinks - 1 && (
                            <li class="cause-more">
                                <button class="quiet" onClick={() => setWhole(true)}>
                                    {plural(hidden, "more rank")} between, one after the other
                                </button>
                            </li>
                        )}
                        <LinkItem link={link} number={number} />
                    </>
                ))}
            </ol>
        </section>
    );
}
