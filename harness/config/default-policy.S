/* SPDX-License-Identifier: Apache-2.0 */

/* policies/default.yaml: what records say of a run without a policy of its own is its digest. */
	.section .rodata
	.global default_policy
	.global default_policy_end
default_policy:
	.incbin DEFAULT_POLICY
default_policy_end:
	.section .note.GNU-stack, "", %progbits
