/* SPDX-License-Identifier: Apache-2.0 */

/* The files of sets/. */
	.section .rodata
	.global paper_196_set
	.global paper_196_set_end
	.global curated_60_set
	.global curated_60_set_end
paper_196_set:
	.incbin PAPER_196_SET
paper_196_set_end:
curated_60_set:
	.incbin CURATED_60_SET
curated_60_set_end:
	.section .note.GNU-stack, "", %progbits
