/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"

/*
 * The jail's network: a namespace with a loopback interface and nothing else.
 */

/**
 * net_loopback_up() - bring up `lo` in the caller's network namespace
 */
int net_loopback_up(struct err *err) must_check;
