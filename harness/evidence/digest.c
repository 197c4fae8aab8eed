/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/digest.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

static void must(bool worked)
{
	if (!worked)
		abort();
}

void digest_begin(struct digest_state *state)
{
	if (!state->context)
		state->context = EVP_MD_CTX_new();
	must(state->context != NULL);
	must(EVP_DigestInit_ex(state->context, EVP_sha256(), NULL) == 1);
}

void digest_add(struct digest_state *state, const void *bytes, size_t len)
{
	must(EVP_DigestUpdate(state->context, bytes, len) == 1);
}

struct digest digest_end(struct digest_state *state)
{
	struct digest digest;

	must(EVP_DigestFinal_ex(state->context, digest.bytes, NULL) == 1);
	return digest;
}

void digest_done(struct digest_state *state)
{
	EVP_MD_CTX_free(state->context);
	*state = DIGEST_STATE_INIT;
}

struct digest digest_sha256(const void *bytes, size_t len)
{
	struct digest digest;

	must(EVP_Digest(bytes, len, digest.bytes, NULL, EVP_sha256(), NULL) == 1);
	return digest;
}

struct digest digest_hmac(const void *key, size_t key_len, const void *bytes, size_t len)
{
	/* A NULL key means "as before" to the library; an empty one has to be given. */
	static const uint8_t none[1];
	struct digest digest;

	must(key_len <= INT_MAX);
	must(HMAC(EVP_sha256(), key_len > 0 ? key : none, (int) key_len, bytes, len, digest.bytes,
		  NULL) != NULL);
	return digest;
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
	return CRYPTO_memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

void digest_hex(const struct digest *digest, char text[DIGEST_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < sizeof(digest->bytes); i++) {
		text[2 * i] = digits[digest->bytes[i] >> 4];
		text[2 * i + 1] = digits[digest->bytes[i] & 15];
	}
	text[DIGEST_HEX - 1] = '\0';
}

static int digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

int digest_parse(struct digest *out, const char *text)
{
	struct digest digest;

	if (strnlen(text, DIGEST_HEX) != DIGEST_HEX - 1)
		return -1;
	for (size_t i = 0; i < sizeof(digest.bytes); i++) {
		int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -1;
		digest.bytes[i] = (uint8_t) (high * 16 + low);
	}
	*out = digest;
	return 0;
}
