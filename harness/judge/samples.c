/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/samples.h"

#include "sandbox/base/mem.h"

void samples_add(struct samples *samples, const struct sample *sample)
{
	if (samples->count == samples->room) {
		samples->room = samples->room ? 2 * samples->room : 1024;
		samples->list = mem_resize(samples->list, samples->room, sizeof(*samples->list));
	}
	samples->list[samples->count++] = *sample;
}

void samples_done(struct samples *samples)
{
	mem_free(&samples->list);
	*samples = SAMPLES_INIT;
}
