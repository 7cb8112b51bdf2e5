// Links that the keyboard meets first: past the header to the list, the views, the timeline. Seen only while
// they have the focus.
import { viewRow } from "../state/views";
import { views } from "../state/store";

/* to: an id; at: what in it takes the focus, if it is there. */
function Skip({ to, at, says }: { to: string; at?: string; says: string }) {
    const go = () => {
        const target = document.getElementById(to);
        const inner = at && target?.querySelector<HTMLElement>(at);
        (inner || target)?.focus();
    };
    return (
        <a
            href={`#${to}`}
            onClick={(event) => {
                event.preventDefault(); /* what is behind # is the state of the page */
                go();
            }}
        >
            {says}
        </a>
    );
}

export function SkipLinks() {
    const isTimeline = views.value.includes("timeline");
    return (
        <nav class="skip-links" aria-label="Skip">
            <Skip to="list" at='[tabindex="0"]' says="To the list" />
            <Skip to="views" says="To the views" />
            {isTimeline && (
                <Skip
                    to="view-timeline"
                    at=".timeline-scroll"
                    says={`To the ${viewRow("timeline").title.toLowerCase()}`}
                />
            )}
        </nav>
    );
}
