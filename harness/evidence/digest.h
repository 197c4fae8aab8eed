/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/compiler.h"

/*
 * Digests
 *
 * SHA-256 of bytes, at once or piece by piece, and HMAC-SHA256. The only file that knows which
 * library computes them. Nothing here can fail: a library that can not hash ends the program, as
 * one that has no memory does.
 */
struct digest {
	uint8_t bytes[32];
};

#define DIGEST_HEX 65 /* bytes of the text form, its zero included */

/* A hash that is being fed. The same state can be begun again and again. */
struct digest_state {
	struct evp_md_ctx_st *context; /* owned; NULL: never begun */
};

#define DIGEST_STATE_INIT ((struct digest_state){ .context = NULL })

/**
 * digest_begin() - start a SHA-256; what was fed before is forgotten
 */
void digest_begin(struct digest_state *state);

/**
 * digest_add() - feed @len bytes to a hash that was begun
 */
void digest_add(struct digest_state *state, const void *bytes, size_t len);

/**
 * digest_end() - the hash of all that was fed; the state has to be begun before it is fed again
 */
struct digest digest_end(struct digest_state *state);

/**
 * digest_done() - release the state; it is DIGEST_STATE_INIT again
 */
void digest_done(struct digest_state *state);

/**
 * digest_sha256() - the SHA-256 of @len bytes
 */
struct digest digest_sha256(const void *bytes, size_t len);

/**
 * digest_hmac() - the HMAC-SHA256 of @len bytes under @key
 * @key_len: at most INT_MAX
 */
struct digest digest_hmac(const void *key, size_t key_len, const void *bytes, size_t len);

/**
 * digest_equal() - are they the same; takes the same time wherever they differ
 */
bool digest_equal(const struct digest *a, const struct digest *b);

/**
 * digest_hex() - 64 lower case hexadecimal digits and a zero byte
 */
void digest_hex(const struct digest *digest, char text[DIGEST_HEX]);

/**
 * digest_parse() - read what digest_hex() wrote, and nothing else
 *
 * Return: 0, or -1 if @text is not exactly 64 lower case digits; @out is then untouched. Not an
 * error yet: only the caller knows what the text was meant to be.
 */
int digest_parse(struct digest *out, const char *text) must_check;
