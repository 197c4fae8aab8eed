# SPDX-License-Identifier: Apache-2.0
"""Each number times a factor."""


def scale(numbers, factor):
    result = []
    for number in numbers:
        product = number * factor
        result.append(product)
    return result
