// Links that the keyboard meets first: past the header to what a page is about. Seen only while they have the focus.

export interface SkipTo {
    to: string; /* an id */
    at?: string; /* what in it takes the focus, if it is there */
    says: string;
}

function Skip({ to, at, says }: SkipTo) {
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

export function SkipLinks({ to }: { to: SkipTo[] }) {
    return (
        <nav class="skip-links" aria-label="Skip">
            {to.map((link) => (
                <Skip key={link.to} {...link} />
            ))}
        </nav>
    );
}
