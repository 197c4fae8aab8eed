/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The constants of the sealed judge, each with its reason. They are part of what a mark means: a
 * record made with other values is not comparable. tests/bench/judge prints the evidence again on
 * any machine.
 */

/*
 * Outputs read at secret positions the moment "done" is seen. A worker that rings with a part p
 * of its outputs unwritten passes one call with (1 - p)^64: 0.1 % at 10 %, 53 % at 1 %. A marking
 * is hundreds of calls. A ring at 98 %, 95 %, 90 %, 75 %, 50 % was caught in 20 of 20 markings.
 * Without probes the snapshot alone catches what is slower than the snapshot: of a softmax a ring
 * at 98 % passed 19 of 20 and one at 90 % none; of outputs made as fast as memory takes them (4
 * MiB) rings at 90 and 75 % passed 6 of 6, FAST by 1.16 and 1.36. The clock has stopped when they
 * are read.
 */
#define JUDGE_PROBES 64

/*
 * Calls of each case that are not counted when a worker is fresh: the first call pays page
 * tables, code pages and branch history. Against the counted ones, medians on three kernels: 4 to
 * 30 % longer, then 0.3 to 5 %, then 0 to 0.3 %.
 */
#define JUDGE_WARMUPS 3

/*
 * Counted calls a case and worker. Two workers a side and block: ten values for a median, and
 * 100 counted calls a side at the first look.
 */
#define JUDGE_TIMED 5
#define JUDGE_CALLS (JUDGE_WARMUPS + JUDGE_TIMED)

/*
 * Blocks after which the verdict may be given, and the error of each interval in parts per
 * million. Fewer than 7 blocks have no interval at 2 % at all, and at 10 it ends at the sixth of 55
 * averages; more than 40 buy little, since the width falls with the square root.
 */
#define JUDGE_LOOKS      4
#define JUDGE_LOOK_EVERY 10
#define JUDGE_BLOCKS     (JUDGE_LOOKS * JUDGE_LOOK_EVERY)
#define JUDGE_ALPHA_PPM  20000

/* A change below 1 % is no change: ln 1.01. A host's measured A/A floor may raise it. */
#define JUDGE_MARGIN 0.00995033085316808

/*
 * A time is resolved when the sealed clock is known to agree with a clock inside the process to
 * 1 % of it, and when it stands out of the noise of the path. A candidate that answers the judge
 * itself, past the worker program, saves what that takes, and the null does not know: so this
 * too has to be below 1 %. Seen on a quiet machine: delta 0.1 to 0.2 us, the program's part 0.18 us
 * (0.15 us of it gained by such a candidate), null 8.8 us with a deviation of 0.5 us.
 */
#define JUDGE_DELTA_FACTOR 100
#define JUDGE_NULL_FACTOR  5

/* A worker's own figure that is off by more than both of these is labelled, and not used. */
#define JUDGE_CLAIM_NS   2000
#define JUDGE_CLAIM_PART 0.05

/* Interquartile range of a normal distribution in standard deviations, as DESIGN has it. */
#define JUDGE_IQR_PER_SD 1.35

/*
 * How often the waiting judge looks at the worker's pidfd: one system call (0.3 us) a millisecond
 * is 0.03 % of a long call and no part of a short one.
 */
#define JUDGE_WATCH_NS 1000000

/* Words of the doorbell between two looks at the clock: about a microsecond. */
#define JUDGE_SPINS 32

/*
 * A gap of this length in the sentry's beats is a switch to another process: its loop takes 25 ns,
 * and nothing that runs in between can be back sooner.
 */
#define JUDGE_GAP_NS 700

/* A fresh worker has this long to load its library; a hold has this long to take effect. */
#define JUDGE_START_NS 10000000000
#define JUDGE_HOLD_NS  2000000000
