// program.mjs -- a made-up parallel program for the mock server: 6 ranks call `compute`, and as in
// the case studies of Xie, Xu and Mueller a delay runs along a chain of ranks (#4-40), some
// executions make many small `ev_tally` calls (0 excepted: #*-20, #*-50), and the first execution
// of each rank sets up its communication, which is rare but as it should be.

const names = [
    "compute",
    "forward_comm_pair",
    "MPI_Send",
    "MPI_Wait",
    "FLUSH",
    "ev_tally",
    "pair_forces",
    "MPI_Type_size",
    "md_setup",
];
const region = Object.fromEntries(names.map((name, i) => [name, i]));

/* As compilers write them: what is shown has to be the short name. */
export function fullName(name) {
    if (name === "FLUSH") return name;
    return name.startsWith("MPI_")
        ? `${name}()`
        : `void mock::${name}(mock::Pair *) [{mock.cpp} {1,1}-{9,1}]`;
}

/* xorshift: the same program every time */
function random(seed) {
    let s = seed >>> 0 || 1;
    return () => {
        s ^= s << 13;
        s ^= s >>> 17;
        s ^= s << 5;
        return (s >>> 0) / 2 ** 32;
    };
}

export function makeProgram({ ranks = 6, steps = 60 } = {}) {
    const rng = random(7);
    const locations = [];
    const messages = [];
    const executions = [];
    for (let rank = 0; rank < ranks; rank++) {
        const calls = [];
        let now = rank * 2000;
        const call = (parent, name, ns, inside) => {
            const row = calls.length;
            calls.push({
                region: region[name],
                parent,
                depth: parent < 0 ? 0 : calls[parent].depth + 1,
                enter_ns: now,
                leave_ns: 0,
                exclusive_ns: Math.round(ns),
                location: rank,
                row,
            });
            if (inside) inside(row);
            now += Math.round(ns);
            calls[row].leave_ns = now;
            return row;
        };
        for (let step = 0; step < steps; step++) {
            now = step * 5e6 + rank * 2000;
            const isDelayed = step === 40 && rank >= 3 && rank <= 5;
            const isTally = step === 20 || step === 50;
            let n = 0;
            const root = call(-1, "compute", 2e4 * (0.9 + 0.2 * rng()), (c) => {
                if (step === 0)
                    call(c, "md_setup", 2e5, (m) => {
                        for (let i = 0; i < 12; i++) call(m, "MPI_Type_size", 9e3);
                    });
                call(c, "pair_forces", 1.2e6 * (0.97 + 0.06 * rng()));
                for (let i = 0; i < 4; i++)
                    call(c, "forward_comm_pair", 8e3, (f) => {
                        const send = call(f, "MPI_Send", 3e4 * (0.8 + 0.4 * rng()));
                        const flush = isDelayed && i === 1 && rank === 5;
                        const wait = call(
                            f,
                            "MPI_Wait",
                            (isDelayed && i === 1 && rank < 5 ? 6e5 * rank : 6e4) *
                                (0.9 + 0.2 * rng()),
                            (w) => flush && call(w, "FLUSH", 2.9e6),
                        );
                        const to = (rank + 1) % ranks;
                        messages.push({
                            from: rank,
                            to,
                            step,
                            i,
                            send_call: send,
                            send_ns: calls[send].leave_ns,
                            bytes: 4096,
                            tag: i,
                        });
                        calls[wait].waits = { step, i, from: (rank + ranks - 1) % ranks };
                        n += 2;
                    });
                if (isTally)
                    for (let i = 0; i < 40; i++) call(c, "ev_tally", 900 + 300 * rng());
            });
            executions.push({
                tree: executions.length,
                rank,
                location: rank,
                index: step,
                call: root,
                enter_ns: calls[root].enter_ns,
                duration_ns: now - calls[root].enter_ns,
                vertices: calls.length - root,
                messages: n,
                isTally,
                isFirst: step === 0,
                isDelayed,
            });
        }
        locations.push({ calls });
    }
    // A message arrives while its receiver waits for it; one that waits long gets it at the end.
    const byKey = new Map(messages.map((m) => [`${m.from}/${m.step}/${m.i}`, m]));
    for (const { calls } of locations)
        for (const call of calls) {
            const message =
                call.waits &&
                byKey.get(`${call.waits.from}/${call.waits.step}/${call.waits.i}`);
            if (!message) continue;
            message.recv_call = call.row;
            message.recv_ns = Math.max(call.leave_ns - 500, message.send_ns + 300);
        }
    return { names, locations, messages, executions };
}
