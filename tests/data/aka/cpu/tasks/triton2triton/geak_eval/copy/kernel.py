# SPDX-License-Identifier: Apache-2.0
"""A copy, with its reference, inputs and shapes."""
import random


def _copy_kernel(source, target, start, stop):
    for index in range(start, stop):
        target[index] = source[index]


def copy(source, target):
    for start in range(0, len(source), 16):
        _copy_kernel(source, target, start, min(start + 16, len(source)))
    return target


def copy_reference(source, target):
    target[:] = source
    return target


def get_inputs(size, seed):
    chosen = random.Random(seed)
    return [chosen.random() for _ in range(size)], [0.0] * size


EVAL_CONFIGS = [
    {"size": 127, "seed": 4},
    {"size": 1024, "seed": 5},
    {"size": 4096, "seed": 6},
]
