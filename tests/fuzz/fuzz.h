/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A fuzz target is one function that states a property of an input, and traps where it does not
 * hold. With -Dfuzz=true (clang) meson builds it as a fuzzer:
 *
 *	CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
 *	ninja -C build-fuzz; mkdir found; corpus=tests/fuzz/corpus/stream
 *	build-fuzz/tests/fuzz/fuzz-stream -max_total_time=300 found $corpus
 *	build-fuzz/tests/fuzz/fuzz-stream -merge=1 $corpus found
 *
 * The last line adds what reached new code to the corpus, which each test run replays.
 */

/**
 * LLVMFuzzerTestOneInput() - the target: check the property for this input
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
