// The points inside a line drawn by hand: even-odd rule, after a test against its bounding box.

export type Line = [number, number][];

export function isInside(line: Line, x: number, y: number): boolean {
    let inside = false;
    for (let i = 0, j = line.length - 1; i < line.length; j = i++) {
        const [xi, yi] = line[i];
        const [xj, yj] = line[j];
        if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
    }
    return inside;
}

export function pointsInside(
    line: Line,
    x: Float32Array,
    y: Float32Array,
    order: Uint32Array,
): Uint32Array {
    const xs = line.map((p) => p[0]);
    const ys = line.map((p) => p[1]);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [low, high] = [Math.min(...ys), Math.max(...ys)];
    return order.filter(
        (tree) =>
            x[tree] >= left &&
            x[tree] <= right &&
            y[tree] >= low &&
            y[tree] <= high &&
            isInside(line, x[tree], y[tree]),
    );
}
