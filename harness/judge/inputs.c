/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/inputs.h"

#include <endian.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/compiler.h"

enum { CHUNK_F32 = INPUTS_CHUNK / 4, CHUNK_F64 = INPUTS_CHUNK / 8 };

static const uint8_t zeros[INPUTS_CHUNK];

int inputs_open(struct inputs *inputs, const uint8_t key[INPUTS_KEY], const char *label,
		const uint64_t *numbers, struct err *err)
{
	uint8_t name[64 + 8 * INPUTS_NUMBERS] = { 0 };
	uint8_t derived[EVP_MAX_MD_SIZE];
	static const uint8_t counter[16];
	unsigned int len = 0;
	int ok;

	if (strlen(label) >= 64)
		return err_set(err, ERR_SYS, "the label '%s' is too long", label);
	memcpy(name, label, strlen(label));
	for (int i = 0; i < INPUTS_NUMBERS; i++) {
		uint64_t number = htole64(numbers[i]);

		memcpy(name + 64 + 8 * i, &number, 8);
	}
	if (!HMAC(EVP_sha256(), key, INPUTS_KEY, name, sizeof(name), derived, &len) || len != 32)
		return err_set(err, ERR_SYS, "derive the key of '%s'", label);

	if (!inputs->cipher)
		inputs->cipher = EVP_CIPHER_CTX_new();
	ok = inputs->cipher &&
	     EVP_EncryptInit_ex(inputs->cipher, EVP_aes_128_ctr(), NULL, derived, counter);
	OPENSSL_cleanse(derived, sizeof(derived));
	if (!ok)
		return err_set(err, ERR_SYS, "start the stream '%s'", label);
	inputs->left = 0;
	return 0;
}

/* A cipher that has started can not fail; going on without random bytes would be a disaster. */
static void refill(struct inputs *inputs)
{
	int len = 0;

	if (!EVP_EncryptUpdate(inputs->cipher, inputs->chunk, &len, zeros, INPUTS_CHUNK) ||
	    len != INPUTS_CHUNK)
		abort();
	inputs->left = INPUTS_CHUNK;
}

static const uint8_t *draw(struct inputs *inputs, uint32_t bytes)
{
	const uint8_t *at;

	if (inputs->left < bytes)
		refill(inputs);
	at = inputs->chunk + INPUTS_CHUNK - inputs->left;
	inputs->left -= bytes;
	return at;
}

uint64_t inputs_u64(struct inputs *inputs)
{
	uint64_t bits;

	inputs->left -= inputs->left % 8;
	memcpy(&bits, draw(inputs, 8), sizeof(bits));
	return le64toh(bits);
}

uint64_t inputs_below(struct inputs *inputs, uint64_t limit)
{
	uint64_t uneven = -limit % limit; /* 2^64 mod limit: these values would count twice */
	uint64_t bits;

	do
		bits = inputs_u64(inputs);
	while (bits < uneven);
	return bits % limit;
}

void inputs_shuffle(struct inputs *inputs, uint32_t *indices, uint32_t count)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t other = (uint32_t) inputs_below(inputs, i);
		uint32_t kept = indices[i - 1];

		indices[i - 1] = indices[other];
		indices[other] = kept;
	}
}

/* Bulk draws take whole chunks, so that the loops below have a fixed length and become vectors. */
static const void *chunk(struct inputs *inputs)
{
	refill(inputs);
	inputs->left = 0;
	return inputs->chunk;
}

static void chunk_f32(const uint32_t *bits, float *out, float low, float high)
{
	float scale = (high - low) * 0x1p-24f;

	for (int i = 0; i < CHUNK_F32; i++) {
		float value = low + scale * (float) (int32_t) (le32toh(bits[i]) >> 8);

		out[i] = value > high ? high : value; /* rounding may step over the end */
	}
}

void inputs_f32(struct inputs *inputs, float *out, uint64_t count, float low, float high)
{
	float last[CHUNK_F32];

	for (; count >= CHUNK_F32; count -= CHUNK_F32, out += CHUNK_F32)
		chunk_f32(chunk(inputs), out, low, high);
	if (count == 0)
		return;
	chunk_f32(chunk(inputs), last, low, high);
	memcpy(out, last, count * sizeof(*out));
}

static void chunk_f64(const uint64_t *bits, double *out, double low, double high)
{
	double scale = (high - low) * 0x1p-53;

	for (int i = 0; i < CHUNK_F64; i++) {
		double value = low + scale * (double) (int64_t) (le64toh(bits[i]) >> 11);

		out[i] = value > high ? high : value;
	}
}

void inputs_f64(struct inputs *inputs, double *out, uint64_t count, double low, double high)
{
	double last[CHUNK_F64];

	for (; count >= CHUNK_F64; count -= CHUNK_F64, out += CHUNK_F64)
		chunk_f64(chunk(inputs), out, low, high);
	if (count == 0)
		return;
	chunk_f64(chunk(inputs), last, low, high);
	memcpy(out, last, count * sizeof(*out));
}

void inputs_i32(struct inputs *inputs, int32_t *out, uint64_t count, int32_t low, int32_t high)
{
	uint64_t range = (uint64_t) ((int64_t) high - low) + 1;

	while (count > 0) {
		const uint32_t *bits = chunk(inputs);
		uint64_t now = MIN_OF(count, (uint64_t) CHUNK_F32);

		for (uint64_t i = 0; i < now; i++)
			out[i] = (int32_t) (low + (int64_t) (le32toh(bits[i]) * range >> 32));
		out += now;
		count -= now;
	}
}

void inputs_i64(struct inputs *inputs, int64_t *out, uint64_t count, int64_t low, int64_t high)
{
	uint64_t range = (uint64_t) high - (uint64_t) low + 1; /* 0: all of them */

	for (uint64_t i = 0; i < count; i++)
		out[i] = (int64_t) ((uint64_t) low +
				    (range ? inputs_below(inputs, range) : inputs_u64(inputs)));
}

void inputs_done(struct inputs *inputs)
{
	EVP_CIPHER_CTX_free(inputs->cipher); /* cleanses the key */
	OPENSSL_cleanse(inputs->chunk, sizeof(inputs->chunk));
	inputs->cipher = NULL;
	inputs->left = 0;
}
