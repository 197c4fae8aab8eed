/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/digest.h"

#include <string.h>

#include "tests/lib/check.h"

static void check_digest(struct digest digest, const char *want)
{
	char text[DIGEST_HEX];

	digest_hex(&digest, text);
	CHECK_STR(text, want);
}

TEST(sha256_gives_the_published_digests)
{
	/* FIPS 180-4's examples. */
	check_digest(digest_sha256("", 0),
		     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_digest(digest_sha256("abc", 3),
		     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check_digest(digest_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
		     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(hmac_gives_the_published_digests)
{
	uint8_t key[131];

	/* RFC 4231, cases 1, 2 and 6 (a key that is longer than a block). */
	memset(key, 0x0b, 20);
	check_digest(digest_hmac(key, 20, "Hi There", 8),
		     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	check_digest(digest_hmac("Jefe", 4, "what do ya want for nothing?", 28),
		     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	check_digest(digest_hmac(key, sizeof(key),
				 "Test Using Larger Than Block-Size Key - Hash Key First", 54),
		     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(an_hmac_may_have_an_empty_key_and_an_empty_text)
{
	check_digest(digest_hmac(NULL, 0, "", 0),
		     "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(a_digest_by_pieces_is_the_digest_at_once)
{
	cleanup(digest_done) struct digest_state state = DIGEST_STATE_INIT;
	struct digest digest;

	for (int round = 0; round < 2; round++) {
		digest_begin(&state);
		digest_add(&state, "forgotten", 9);
		digest_begin(&state);
		digest_add(&state, "a", 1);
		digest_add(&state, "", 0);
		digest_add(&state, "bc", 2);
		digest = digest_end(&state);
		check_digest(digest,
			     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	}
	digest_done(&state);
	digest_done(&state);
}

TEST(digests_are_equal_only_when_every_byte_is)
{
	struct digest a = digest_sha256("x", 1);

	for (size_t i = 0; i < sizeof(a.bytes); i++) {
		struct digest b = a;

		CHECK(digest_equal(&a, &b));
		b.bytes[i] ^= 1;
		CHECK(!digest_equal(&a, &b));
	}
}

TEST(the_text_of_a_digest_reads_back_as_the_digest)
{
	struct digest digest = digest_sha256("x", 1), read;
	char text[DIGEST_HEX];

	digest_hex(&digest, text);
	CHECK_INT(digest_parse(&read, text), 0);
	CHECK(digest_equal(&digest, &read));
}

TEST(a_text_that_is_not_64_lower_case_digits_is_no_digest)
{
	static const char good[] =
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	struct digest digest = { .bytes = { 7 } };
	char text[80];

	for (size_t i = 0; i < DIGEST_HEX - 1; i++) {
		static const char wrong[] = "AFg/: \n\0";

		for (size_t w = 0; w < sizeof(wrong); w++) {
			memcpy(text, good, sizeof(good));
			text[i] = wrong[w];
			CHECK_INT(digest_parse(&digest, text), -1);
		}
	}
	memcpy(text, good, sizeof(good));
	text[64] = '0';
	text[65] = '\0';
	CHECK_INT(digest_parse(&digest, text), -1);
	CHECK_INT(digest_parse(&digest, ""), -1);
	CHECK_INT(digest.bytes[0], 7);
}
