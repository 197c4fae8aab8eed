/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/attempt_state.h"

#include "tests/lib/check.h"

TEST(each_state_has_a_name_that_leads_back_to_it)
{
	int last = -1;

	for (const struct name *name = attempt_state_names; name->text; name++) {
		int state = -1;

		CHECK_INT(name->value, last + 1); /* in the order that attempts go through them */
		CHECK_INT(names_find(attempt_state_names, name->text, &state), 0);
		CHECK_INT(state, name->value);
		last = name->value;
	}
	CHECK_INT(last, ATTEMPT_RECORDED);
}
