/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/account.h"
#include "sandbox/base/process.h"

/*
 * The folder of a new run
 *
 * One that was made for a run that then can not begin goes again, so that a typing error leaves
 * nothing behind. By that time we are an account that may not be allowed to: a child that has the
 * rights by which the folder was made waits for the word, or for our end. It removes the folder if
 * it is still the same and empty, and does nothing else; one that was there before is not touched.
 */
struct run_folder {
	struct process remover;
	int word_fd; /* owned: of a pipe to the remover; -1: there is none */
};

#define RUN_FOLDER_INIT ((struct run_folder){ .remover = PROCESS_INIT, .word_fd = -1 })

/**
 * run_folder_open() - make the folder, or take an empty one that is there, and give it to the
 * account
 * @path: without a slash at the end
 *
 * Call it between account_enter() and account_leave(). Return: its descriptor, the caller's.
 */
int run_folder_open(struct run_folder *folder, const char *path, const struct account *account,
		    struct err *err) must_check;

/**
 * run_folder_done() - remove the folder if it was made here and has nothing in it
 */
void run_folder_done(struct run_folder *folder);
