/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The program of pid 1 is part of the launcher: the two can not come from different builds, and no
 * path leads to it.
 */
	.section .rodata
	.global init_image
	.global init_image_end
	.balign 64
init_image:
	.incbin INIT_IMAGE
init_image_end:
	.section .note.GNU-stack, "", %progbits
