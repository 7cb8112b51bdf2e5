"""Jobs of PyTorch that never ran: a file of Kineto's JSON per rank, of a model trained by data parallel ranks.

A step takes a batch, launches the kernels of the layers, has the thread of autograd go back through them, waits for the
device, and takes a step of the optimizer. That thread computes, launches the backward kernels and behind each of them an
all-reduce on a stream of its own, which overlaps with the next; while it is at work the main thread has nothing to do,
and no record says that it waits, as in PyTorch's own traces of GPUs. Kernels of a stream follow each other, an all-reduce
ends on all ranks when the last one has begun and its transfer is over. What goes wrong is added to one of these times, so
what it costs is the difference of two jobs, exactly.

Of a sharded model no rank has all parameters of a layer: they are gathered from all ranks one layer ahead of the kernel that
needs them, while the one before computes, and gradients are scattered behind each backward kernel. So a rank whose batch is
late holds up a collective that others wait for on a stream, and their kernels behind it.
"""
import gzip
import json
import pathlib
import random

LAYERS = 4
US = {"input": 3000, "launch": 60, "forward": 4000, "autograd": 2000, "backward": 6000, "transfer": 1500, "optimizer": 500}
NAMES = {"input": "enumerate(DataLoader)#_next", "forward": "sgemm_128x64", "autograd": "autograd::engine::evaluate_function: NllLossBackward0",
         "backward": "sgemm_bwd", "transfer": "ncclDevKernel_AllReduce", "optimizer": "Optimizer.step#SGD.step",
         "late": "DistributedDataParallel.bucket"}
BACKWARD = "autograd::engine::evaluate_function: AddmmBackward0"
# kernel, what it is called in PyTorch, of what
ALL_REDUCE = ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "allreduce", "Float")
GATHER = ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "_allgather_base", "BFloat16")
SCATTER = ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "_reduce_scatter_base", "BFloat16")
AUTOGRAD = 5000  # number of the thread that goes back through the layers, of rank 0


class Job:
    """extra(rank, step, part, layer) -> us on top of what a part takes; part: one of NAMES."""

    def __init__(self, ranks, steps, seed, extra=lambda *_: 0.0):
        self.ranks, self.steps, self.seed, self.extra = ranks, steps, seed, extra
        self.events = [[] for _ in range(ranks)]
        self.step_times = [[] for _ in range(ranks)]  # (begin, end), us
        self.touched = []  # (rank, step, part, begin, end), us: what something was added to
        self.correlation = 0
        self.end_us = self._run()

    def _takes(self, rank, step, part, layer=0):
        jitter = random.Random(f"{self.seed} {rank} {step} {part} {layer}").lognormvariate(0, 0.03)
        return US.get(part, 0) * jitter, self.extra(rank, step, part, layer)

    def _put(self, rank, cat, name, begin, took, stream=None, thread=None, **args):
        pid = rank if stream else 1000 + rank
        if stream:
            args |= {"device": rank, "stream": stream}
        self.events[rank].append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": stream or thread or pid,
                                  "ts": round(begin, 3), "dur": round(took, 3), "args": args})

    def _arrow(self, rank, phase, time, stream=None, thread=None):
        pid = rank if stream else 1000 + rank
        self.events[rank].append({"ph": phase, "id": self.correlation, "pid": pid, "tid": stream or thread or pid,
                                  "ts": round(time, 3), "cat": "ac2g", "name": "ac2g"} | ({"bp": "e"} if phase == "f" else {}))

    def _launch(self, rank, now, thread=None):
        self.correlation += 1
        self._put(rank, "cuda_runtime", "cudaLaunchKernel", now + 5, 8, thread=thread, correlation=self.correlation)
        self._arrow(rank, "s", now + 5, thread=thread)
        return self.correlation

    def _part(self, rank, step, part, begin, layer=0):
        took, more = self._takes(rank, step, part, layer)
        if more > 0:
            self.touched.append((rank, step, part, begin + took, begin + took + more))
        return took + more

    def _kernel(self, rank, step, part, layer, free, now, thread=None):
        number = self._launch(rank, now, thread)
        begin = max(free, now + 15)
        took = self._part(rank, step, part, begin, layer)
        self._put(rank, "kernel", NAMES[part], begin, took, stream=7, correlation=number)
        self._arrow(rank, "f", begin, 7)
        return begin + took

    def _cpu_side(self, rank, step, now, free):
        """A step of a rank up to its wait for the device: (now, when stream 7 is free, [(ready, launch, correlation)])."""
        took = self._part(rank, step, "input", now)
        self._put(rank, "user_annotation", NAMES["input"], now, took)
        now += took
        begin = now
        for layer in range(LAYERS):
            free = self._kernel(rank, step, "forward", layer, free, now)
            self._put(rank, "cpu_op", "aten::linear", now, US["launch"] - 10)
            now += US["launch"]
        self._put(rank, "user_annotation", "forward", begin - 1, now - begin + 1)
        begin, thread = now, AUTOGRAD + rank
        now += 30
        took = self._part(rank, step, "autograd", now)
        self._put(rank, "cpu_op", NAMES["autograd"], now, took, thread=thread)
        now += took
        ready = []
        for layer in range(LAYERS):
            from_us = now
            free = self._kernel(rank, step, "backward", layer, free, now, thread)
            now += 30
            late = self._part(rank, step, "late", now, layer)
            if late > 0:
                self._put(rank, "cpu_op", NAMES["late"], now, late, thread=thread)
                now += late
            ready.append((free, now + 15, self._launch(rank, now, thread)))
            now += 30
            self._put(rank, "cpu_op", BACKWARD, from_us, now - from_us - 2, thread=thread)
        now += 20
        self._put(rank, "user_annotation", "backward", begin - 1, now - begin + 1)
        return now, free, ready

    def _member(self, rank, kernel, collective, dtype, begin, end, number):
        """What one rank has of a collective, on stream 20."""
        args = {"Collective name": collective, "In msg nelems": 1000000, "Group size": self.ranks, "dtype": dtype,
                "Process Group Name": "0", "Process Group Ranks": str(list(range(self.ranks)))}
        self._put(rank, "kernel", kernel, begin, end - begin, stream=20, correlation=number, **args)
        self.events[rank].append({"ph": "f", "id": number, "pid": rank, "tid": 20, "ts": round(begin, 3),
                                  "cat": "ac2g", "name": "ac2g", "bp": "e"})

    def _run(self):
        now = [random.Random(f"{self.seed} {r}").uniform(0, 500) for r in range(self.ranks)]
        free = [0.0] * self.ranks
        for step in range(self.steps):
            begins = list(now)
            sides = [self._cpu_side(r, step, now[r], free[r]) for r in range(self.ranks)]
            sent = [0.0] * self.ranks
            for layer in range(LAYERS):
                at = [max(sides[r][2][layer][0], sides[r][2][layer][1], sent[r]) for r in range(self.ranks)]
                end = max(at) + self._part(0, step, "transfer", max(at), layer)
                for r in range(self.ranks):
                    self._member(r, *ALL_REDUCE, at[r], end, sides[r][2][layer][2])
                    sent[r] = end
            for r in range(self.ranks):
                cpu, busy, _ = sides[r]
                end = max(sent[r], busy, cpu) + 20
                self._put(r, "cuda_runtime", "cudaDeviceSynchronize", cpu, end - cpu)
                free[r] = end
                took = self._part(r, step, "optimizer", end)
                self._put(r, "user_annotation", NAMES["optimizer"], end, took)
                self._put(r, "user_annotation", f"ProfilerStep#{step}", begins[r], end + took - begins[r])
                self.step_times[r].append((begins[r], end + took))
                now[r] = end + took + 5
        return max(now)

    def write(self, directory):
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        for r, events in enumerate(self.events):
            cpu = 1000 + r
            names = [("process_labels", cpu, 0, {"labels": "CPU"}), ("process_labels", r, 0, {"labels": f"GPU {r}"}),
                     ("thread_name", cpu, AUTOGRAD + r, {"name": f"thread {AUTOGRAD + r} (pt_autograd_0)"}),
                     ("thread_name", r, 7, {"name": "stream 7"}), ("thread_name", r, 20, {"name": "stream 20"})]
            head = [{"ph": "M", "name": n, "pid": p, "tid": t, "args": a} for n, p, t, a in names]
            whole = {"deviceProperties": [{"id": r, "name": "GPU"}],
                     "distributedInfo": {"backend": "nccl", "rank": r, "world_size": self.ranks}, "traceEvents": head + events}
            with gzip.open(directory / f"rank{r}.json.gz", "wt", compresslevel=1) as file:
                json.dump(whole, file)


class Sharded(Job):
    """All that is launched is from one thread."""

    def _launched(self, now):
        """A launch of each rank; moves their times on."""
        numbers = [self._launch(r, now[r]) for r in range(self.ranks)]
        for r in range(self.ranks):
            now[r] += 15
        return numbers

    def _exchange(self, name, step, now, after, sent, layer):
        """A collective on stream 20, behind what it needs there and elsewhere; returns when it is over."""
        numbers = self._launched(now)
        took = self._part(0, step, "transfer", max(max(now), max(after), sent), layer) if layer == 1 else US["transfer"] / 4
        at = [max(now[r], after[r], sent) for r in range(self.ranks)]
        for r in range(self.ranks):
            self._member(r, *name, at[r], max(at) + took, numbers[r])
        return max(at) + took

    def _compute(self, part, step, now, free, needs, layer):
        for r in range(self.ranks):
            free[r] = self._kernel(r, step, part, layer, max(free[r], needs), now[r])
            now[r] += 15

    def _run(self):
        now = [random.Random(f"{self.seed} {r}").uniform(0, 500) for r in range(self.ranks)]
        free, sent = [0.0] * self.ranks, 0.0
        for step in range(self.steps):
            begins = list(now)
            for r in range(self.ranks):
                took = self._part(r, step, "input", now[r])
                self._put(r, "user_annotation", NAMES["input"], now[r], took)
                now[r] += took
            gathered = sent = self._exchange(GATHER, step, now, [0.0] * self.ranks, sent, 0)
            for layer in range(LAYERS):
                needs = gathered
                if layer + 1 < LAYERS:
                    gathered = sent = self._exchange(GATHER, step, now, [0.0] * self.ranks, sent, layer + 1)
                self._compute("forward", step, now, free, needs, layer)
            for layer in reversed(range(LAYERS)):
                self._compute("backward", step, now, free, 0.0, layer)
                sent = self._exchange(SCATTER, step, now, free, sent, LAYERS + layer)
            for r in range(self.ranks):
                end = max(sent, free[r], now[r]) + 20
                self._put(r, "cuda_runtime", "cudaDeviceSynchronize", now[r], end - now[r])
                free[r] = end
                took = self._part(r, step, "optimizer", end)
                self._put(r, "user_annotation", NAMES["optimizer"], end, took)
                self._put(r, "user_annotation", f"ProfilerStep#{step}", begins[r], end + took - begins[r])
                self.step_times[r].append((begins[r], end + took))
                now[r] = end + took + 5
        return max(now)
