/* SPDX-License-Identifier: Apache-2.0 */

/* The files of policies/: what records say of a run without a policy of its own is the digest of the first. */
	.section .rodata
	.global default_policy
	.global default_policy_end
	.global profiler_policy
	.global profiler_policy_end
	.global agentkernelarena_policy
	.global agentkernelarena_policy_end
default_policy:
	.incbin DEFAULT_POLICY
default_policy_end:
profiler_policy:
	.incbin PROFILER_POLICY
profiler_policy_end:
agentkernelarena_policy:
	.incbin AGENTKERNELARENA_POLICY
agentkernelarena_policy_end:
	.section .note.GNU-stack, "", %progbits
