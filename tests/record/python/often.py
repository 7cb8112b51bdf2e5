"""A small function that is called very often, in a few steps."""


def tiny(x):
    return x + 1


def step():
    x = 0
    for _ in range(100000):
        x = tiny(x)


for _ in range(20):
    step()
