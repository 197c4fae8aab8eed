# SPDX-License-Identifier: Apache-2.0
######################################## Imports ########################################
import sys


class triton:
    """Stands in for the module of this name: the decorator alone."""

    @staticmethod
    def jit(function):
        return function
######################################## Imports ########################################


@triton.jit
def add_kernel(x, y, output, start, stop):
    index = start
    while index < stop:
        left = x[index]
        right = y[index]
        output[index] = left + right
        index = index + 1

##################################################################################################

import random

from performance_utils_pytest import benchmark, save

BLOCK = 64


class Skip(Exception):
    pass


def make_inputs(size):
    random.seed(42)
    return [random.random() for _ in range(size)], [random.random() for _ in range(size)], [0.0] * size


def launch(x, y, output):
    for start in range(0, len(x), BLOCK):
        add_kernel(x, y, output, start, min(start + BLOCK, len(x)))


def test_add(size):
    x, y, output = make_inputs(size)
    launch(x, y, output)
    assert output == [a + b for a, b in zip(x, y)], f"size {size}: a sum is wrong"


def test_performance(size):
    x, y, output = make_inputs(size)
    benchmark(lambda: launch(x, y, output), "add", {"size": size})


# As pytest does: what is skipped is no failure.
def run(test, sizes):
    for size in sizes:
        try:
            test(size)
            print(f"{test.__name__}[{size}] PASSED")
        except Skip as skip:
            print(f"{test.__name__}[{size}] SKIPPED ({skip})")


if __name__ == "__main__":
    if "--correctness" in sys.argv:
        run(test_add, [1, 100, 1000])
    else:
        run(test_performance, [1000, 5000])
        save("perf")
