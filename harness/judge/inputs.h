/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * A stream of secret random values: AES-128 in counter mode under a key that HMAC-SHA256 derives
 * from the judge's key, a label and up to four numbers (block, half, case, call). The same key,
 * label and numbers give the same values in the same order of draws, on every machine; without
 * the key nothing about one stream follows from all others.
 */
enum { INPUTS_KEY = 32, INPUTS_CHUNK = 16384, INPUTS_NUMBERS = 4 };

struct inputs {
	void *cipher;  /* owned */
	uint32_t left; /* bytes of chunk not yet drawn */
	_Alignas(64) uint8_t chunk[INPUTS_CHUNK];
};

/* Too large for a compound literal on every stack: the members that matter. */
#define INPUTS_INIT                       \
	{                                 \
		.cipher = NULL, .left = 0 \
	}

/**
 * inputs_open() - begin the stream that these values name
 * @label:   a literal of ours
 * @numbers: INPUTS_NUMBERS of them
 *
 * Opening again restarts an open stream under the new name.
 */
int inputs_open(struct inputs *inputs, const uint8_t key[INPUTS_KEY], const char *label,
		const uint64_t *numbers, struct err *err) must_check;

/**
 * inputs_u64() - the next 64 bits
 */
uint64_t inputs_u64(struct inputs *inputs);

/**
 * inputs_below() - a number from 0 to @limit - 1, each as likely; @limit must not be 0
 */
uint64_t inputs_below(struct inputs *inputs, uint64_t limit);

/**
 * inputs_shuffle() - put @count indices into a random order
 */
void inputs_shuffle(struct inputs *inputs, uint32_t *indices, uint32_t count);

/**
 * inputs_f32() - @count values of [@low, @high], 24 random bits each
 */
void inputs_f32(struct inputs *inputs, float *out, uint64_t count, float low, float high);

/**
 * inputs_f64() - @count values of [@low, @high], 53 random bits each
 */
void inputs_f64(struct inputs *inputs, double *out, uint64_t count, double low, double high);

/**
 * inputs_i32() - @count values of @low..@high, both included, from 32 random bits (the bias is
 * below range / 2^32)
 */
void inputs_i32(struct inputs *inputs, int32_t *out, uint64_t count, int32_t low, int32_t high);

/**
 * inputs_i64() - @count values of @low..@high, both included
 */
void inputs_i64(struct inputs *inputs, int64_t *out, uint64_t count, int64_t low, int64_t high);

/**
 * inputs_done() - forget the stream and its key
 */
void inputs_done(struct inputs *inputs);
