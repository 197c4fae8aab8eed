#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# beside.sh --gpus 0,1 | --cpu [--part I/N] [--out FOLDER] [--list FILE] [--seconds S] [--gather]: unchanged kernels, by hand, as root
#
# The tasks of h200.list (or FILE) with an agent that does nothing, some with one that changes the kernel's text alone: first
# compile and correctness by AgentKernelArena's own evaluator (AKA_ROOT), then a run of ours with one seat for each GPU, then
# its score of the reports that ours left. Prints TAP: verdicts equal, score_aka equal; and the ratios. FOLDER/*.jsonl has what
# was measured, which is not measured again.
# PROCTOR_RUN_OPTIONS: more options of proctor run, such as --rounds 1.
. "$(dirname "$0")/place.sh"
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/beside.py" "$@"
