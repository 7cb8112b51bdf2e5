// Where the box of the tour stands: in that corner where it covers least of what is to be read.
export interface Rect {
    left: number;
    top: number;
    right: number;
    bottom: number;
}

export interface Kept {
    rect: Rect;
    weight: number; /* how bad it is to cover it */
}

function covered(a: Rect, b: Rect): number {
    const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    return Math.max(0, width) * Math.max(0, height);
}

/* Its left and top edge: below or above, at the left, in the middle or at the right; of places as good, the first. */
export function placeTour(
    box: { width: number; height: number },
    page: { width: number; height: number },
    margin: number,
    kept: Kept[],
): { left: number; top: number } {
    const [x, y] = [page.width - box.width, page.height - box.height];
    const places = [y - margin, margin].flatMap((top) =>
        [x / 2, margin, x - margin].map((left) => ({
            left: Math.max(0, left),
            top: Math.max(0, top),
        })),
    );
    const cost = ({ left, top }: { left: number; top: number }) => {
        const rect = { left, top, right: left + box.width, bottom: top + box.height };
        return kept.reduce((sum, k) => sum + k.weight * covered(rect, k.rect), 0);
    };
    return places.reduce((best, place) => (cost(place) < cost(best) ? place : best));
}
