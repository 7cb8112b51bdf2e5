#!/usr/bin/python3
"""How long gensim's Doc2Vec (PV-DBOW, one worker, 128 dimensions, 20 epochs) takes for the bags
that stack2vec_bench writes. Prints the seconds of training alone: the documents are made before.

usage: stack2vec_gensim.py BAGS [VECTORS]

A subtree is said once per thousandth of the typical tree's time in it, at least once: a typical
document has a thousand words, and the longest stay below the 10,000 that gensim cuts off at.
VECTORS is a file for the vectors, as CSV. Needs python3-gensim.
"""
import sys
import time

import numpy as np

try:
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument
except ImportError:
    sys.exit("stack2vec_gensim.py: skipped, there is no gensim (python3-gensim)")

WORDS = 1000


def read_bags(path):
    """[(id, words, weights in ns)]"""
    bags = []
    with open(path) as lines:
        for line in lines:
            tree, *entries = line.split()
            fields = [entry.split(":") for entry in entries]
            bags.append((tree, [f[0] for f in fields], np.array([float(f[1]) for f in fields])))
    return bags


def documents(bags):
    unit = np.median([weight.sum() for _, _, weight in bags]) / WORDS or 1.0
    rng = np.random.RandomState(1)
    for i, (_, words, weight) in enumerate(bags):
        text = np.repeat(words, np.maximum(1, np.rint(weight / unit)).astype(int))
        rng.shuffle(text)
        yield TaggedDocument(text.tolist(), [i])


def main():
    bags = read_bags(sys.argv[1])
    texts = list(documents(bags))
    begin = time.perf_counter()
    model = Doc2Vec(texts, dm=0, vector_size=128, negative=5, hs=0, min_count=0, sample=0,
                    epochs=20, workers=1, seed=1, alpha=0.025)
    print("%.3f" % (time.perf_counter() - begin))
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as out:
            for i, (tree, _, _) in enumerate(bags):
                out.write(tree + "," + ",".join("%.9g" % v for v in model.dv[i]) + "\n")


main()
