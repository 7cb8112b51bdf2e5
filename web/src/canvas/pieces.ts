// Many points, drawn in pieces, one a frame. The first piece is as large as fits into a frame: where
// a graphics unit draws, that soon is all of them; where a processor has to, what is moved is drawn
// with fewer points. The rest follows when nothing moves. Nothing is waited for.

const leastSize = 20000;
const firstSize = 100000;
const restMs = 150; /* what has not moved for so long rests */
const moving = {
    most: 22,
    aim: 16,
}; /* ms of a frame: what is too long, and what it should be */
const resting = { most: 60, aim: 45 };

/* How many to draw the next time, if `drawn` of at most `size` took a frame of `ms`. */
export function nextSize(
    size: number,
    drawn: number,
    ms: number,
    limit: { most: number; aim: number },
): number {
    if (ms > limit.most) {
        const fewer = Math.floor(drawn * Math.max(limit.aim / ms, 1 / 4));
        return Math.max(leastSize, Math.min(size, fewer));
    }
    return drawn >= size && ms < limit.most * 0.8 ? size * 2 : size;
}

export class Pieces {
    private first = firstSize; /* the size of first pieces ... */
    private later = firstSize; /* ... and of the others */
    private n = 0;
    private next = 0; /* what lies before it is drawn */
    private drawn = 0; /* in the frame before this one */
    private wasFirst = false;
    private before = 0; /* when that was */
    private isMoving = false;
    private restedAt = 0; /* then those that follow the first piece are drawn */
    private frame = 0; /* the frame that is asked for; 0: none */

    /* draw: those from..to; all are gone before the piece that begins with 0. */
    constructor(
        private readonly draw: (from: number, to: number) => void,
        private readonly done: () => void,
    ) {}

    /* What is drawn is not right any more. isMoving: it will soon be wrong again. */
    restart(n: number, isMoving: boolean): void {
        this.n = n;
        this.next = -1;
        this.isMoving = isMoving;
        if (!this.frame) this.frame = requestAnimationFrame(this.step);
    }

    /* All that is not drawn yet, now. */
    finish(): void {
        if (this.next < this.n) this.piece(this.n);
    }

    stop(): void {
        cancelAnimationFrame(this.frame);
        this.frame = 0;
        this.next = this.n;
    }

    private piece(to: number): void {
        const from = Math.max(0, this.next);
        this.wasFirst = this.next < 0;
        this.next = Math.min(this.n, to);
        this.draw(from, this.next);
        this.drawn = this.next - from;
        if (this.next === this.n) this.done();
    }

    private learn(ms: number): void {
        if (this.wasFirst) this.first = nextSize(this.first, this.drawn, ms, moving);
        else this.later = nextSize(this.later, this.drawn, ms, resting);
        this.drawn = 0;
    }

    private readonly step = (now: number): void => {
        if (this.drawn) this.learn(now - this.before);
        this.before = now;
        this.frame = 0;
        if (this.next >= this.n) return;
        if (this.next < 0) {
            this.restedAt = this.isMoving ? now + restMs : 0;
            this.piece(this.first);
        } else if (now >= this.restedAt) this.piece(this.next + this.later);
        this.frame = requestAnimationFrame(this.step); /* also to see how long it took */
    };
}
