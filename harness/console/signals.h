/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"

/**
 * signals_open_stop() - block SIGINT, SIGTERM and SIGHUP and get them as a signalfd instead
 *
 * Return: the descriptor, owned by the caller: readable when the operator wants the end.
 */
int signals_open_stop(struct err *err) must_check;

/**
 * signals_which() - the signal that made the descriptor readable; 0 if none did
 */
int signals_which(int stop_fd);

/**
 * signals_let_go() - from now on they end this process again, as is their default
 */
void signals_let_go(void);
