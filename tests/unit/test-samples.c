/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/samples.h"

#include "tests/lib/check.h"

TEST(samples_keep_their_order_however_many_there_are)
{
	struct samples samples = SAMPLES_INIT;

	for (int i = 0; i < 5000; i++) {
		struct sample sample = { .block = (uint32_t) i, .sealed_ns = -i };

		samples_add(&samples, &sample);
	}
	CHECK_INT(samples.count, 5000);
	for (int i = 0; i < 5000; i++) {
		CHECK_INT(samples.list[i].block, i);
		CHECK_INT(samples.list[i].sealed_ns, -i);
	}
	samples_done(&samples);
	CHECK_INT(samples.count, 0);
	samples_done(&samples);
}
