/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/**
 * lingering_send() - send a message with a descriptor that its last owner needs a minute to close
 * @is_behind: behind an empty message, which looks like the end of the connection
 */
void lingering_send(int fd, bool is_behind);
