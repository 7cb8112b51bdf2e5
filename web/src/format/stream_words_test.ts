import assert from "node:assert/strict";
import test from "node:test";
import { streamWords } from "./stream_words";

test("a stream is told apart from its device, as PyTorch, TAU and Score-P name them", () => {
    assert.deepEqual(streamWords("GPU 3, stream 22", 3), {
        device: "GPU 3",
        stream: "stream 22",
    });
    assert.deepEqual(streamWords("GPU 0, context 1, stream 7", 3), {
        device: "GPU 0, context 1",
        stream: "stream 7",
    });
    assert.deepEqual(streamWords("HIP[1:0]", 31), {
        device: "HIP device 1",
        stream: "stream 0",
    });
});

test("a stream with another name keeps it, one without is its number", () => {
    assert.deepEqual(streamWords("copies", 3), { device: "GPU", stream: "copies" });
    assert.deepEqual(streamWords("", 3), { device: "GPU", stream: ".3" });
});
