// Colours of the page's style (theme.css), for what is drawn: as they are now, or by their names, which follow the style.
export function cssColour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/* For SVG that stands in a page. */
export function colourName(name: string): string {
    return `var(${name})`;
}

export function inks(of = cssColour) {
    return {
        ink: of("--ink"),
        dim: of("--dim"),
        line: of("--line"),
        bar: of("--hot"),
        paper: of("--panel"),
    };
}

/* Of a timeline: what goes back to an anomaly is hot. */
export function timelineInks(isAnomaly: boolean, of = cssColour) {
    return {
        ...inks(of),
        hot: of(isAnomaly ? "--hot" : "--dim"),
        onHot: isAnomaly ? "#000" : of("--panel"),
    };
}
