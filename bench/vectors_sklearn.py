#!/usr/bin/python3
"""How well vectors tell labelled executions apart: the average precision of the mean distance to
the 10 nearest neighbours.

usage: vectors_sklearn.py VECTORS LABELS      both CSV, with the execution's id in front
"""
import csv
import sys

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.neighbors import NearestNeighbors

NEIGHBOURS = 10
vectors = {row[0]: row[1:] for row in csv.reader(open(sys.argv[1]))}
labels = {row["id"]: row["label"] == "abnormal" for row in csv.DictReader(open(sys.argv[2]))}
ids = [name for name in vectors if name in labels]
x = np.array([vectors[name] for name in ids], dtype=float)
distance, _ = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(x).kneighbors()
print("%.3f" % average_precision_score([labels[name] for name in ids], distance.mean(axis=1)))
