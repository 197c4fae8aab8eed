#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cheats.sh [--gpus 0,1] [--part I/N] [--out FOLDER] [--seconds S] [--gather] [NAME…]: the programs of cheats/ as agents, by
# hand, as root
#
# Each under AgentKernelArena's own evaluator (AKA_ROOT, with no walls: what they do stays in temporary folders) and in a run
# of ours: what both give it. Without --gpus over the tree in tests/data/aka/cpu, with it over the real tasks, one lane for each
# GPU. Writes FOLDER/cheats.md, and FOLDER/*.jsonl as it goes: what is there is not measured again. Prints TAP: each cheat is
# accepted by that evaluator, and of ours it is what the table in cheats/ says.
# PROCTOR_RUN_OPTIONS: more options of proctor run, such as --rounds 1.
. "$(dirname "$0")/place.sh"
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/cheats.py" "$@"
