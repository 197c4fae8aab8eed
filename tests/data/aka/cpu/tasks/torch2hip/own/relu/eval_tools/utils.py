# SPDX-License-Identifier: Apache-2.0
import runpy


def load(path, name):
    """A function of a file; what has no such function does not compile."""
    return runpy.run_path(path)[name]
