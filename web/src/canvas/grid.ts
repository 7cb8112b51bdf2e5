// Finds the point under the pointer among a million: points are sorted into square cells, as one
// array of trees and the place where each cell begins in it. No object per point.

export class PointGrid {
    private readonly cells: number;
    private readonly start: Uint32Array;
    private readonly trees: Uint32Array;

    /* x, y: 0..1 for every tree; order: those that are drawn */
    constructor(
        private readonly x: Float32Array,
        private readonly y: Float32Array,
        order: Uint32Array,
    ) {
        this.cells = Math.max(1, Math.min(1024, Math.ceil(Math.sqrt(order.length / 4))));
        this.start = new Uint32Array(this.cells * this.cells + 1);
        this.trees = new Uint32Array(order.length);
        for (const tree of order) this.start[this.cellOf(tree) + 1]++;
        for (let c = 0; c < this.cells * this.cells; c++) this.start[c + 1] += this.start[c];
        const next = this.start.slice();
        for (const tree of order) this.trees[next[this.cellOf(tree)]++] = tree;
    }

    private along(value: number): number {
        return Math.min(this.cells - 1, Math.max(0, Math.floor(value * this.cells)));
    }

    private cellOf(tree: number): number {
        return this.along(this.y[tree]) * this.cells + this.along(this.x[tree]);
    }

    /* The nearest within an ellipse with the half axes rx and ry, or -1. */
    nearest(atX: number, atY: number, rx: number, ry: number): number {
        let best = -1;
        let least = 1;
        for (let row = this.along(atY - ry); row <= this.along(atY + ry); row++)
            for (let column = this.along(atX - rx); column <= this.along(atX + rx); column++) {
                const cell = row * this.cells + column;
                for (let i = this.start[cell]; i < this.start[cell + 1]; i++) {
                    const tree = this.trees[i];
                    const d =
                        ((this.x[tree] - atX) / rx) ** 2 + ((this.y[tree] - atY) / ry) ** 2;
                    if (d <= least) {
                        least = d;
                        best = tree;
                    }
                }
            }
        return best;
    }
}
