/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/check.h"
TEST(a)
{
}
