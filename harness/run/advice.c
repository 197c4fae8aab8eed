/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/advice.h"

#include <stdio.h>
#include <string.h>

#include "harness/judge/constants.h"

/* tasks/README.md, "Types" */
static const char *c_type(const struct arg *arg, bool is_wide)
{
	static const char *const plain[ELEMENT_COUNT] = {
		[ELEMENT_F64] = "double",    [ELEMENT_F32] = "float",   [ELEMENT_F16] = "uint16_t",
		[ELEMENT_BF16] = "uint16_t", [ELEMENT_I64] = "int64_t", [ELEMENT_I32] = "int32_t",
		[ELEMENT_I8] = "int8_t",     [ELEMENT_U8] = "uint8_t",  [ELEMENT_I4] = "uint8_t",
		[ELEMENT_U4] = "uint8_t",
	};
	const uint32_t element = (uint32_t) arg->element;

	if (is_wide)
		return element_is_real(element) ? "double" : "int64_t";
	if (arg->role != ARG_SCALAR)
		return plain[element];
	if (element == ELEMENT_F16 || element == ELEMENT_BF16)
		return "float";
	return element == ELEMENT_I4 ? "int8_t" : plain[element];
}

void advice_prototype(const struct task *task, enum worker_role role, struct str *out)
{
	const bool is_oracle = role == WORKER_ORACLE;

	str_addf(out, "void %s(", is_oracle ? task->oracle.symbol : task->entry.symbol);
	for (size_t i = 0; i < task->cases.arg_count; i++) {
		const struct arg *arg = &task->cases.args[i];

		str_addf(out, "%s%s%s %s%s", i > 0 ? ", " : "", arg->role == ARG_IN ? "const " : "",
			 c_type(arg, is_oracle), arg->role == ARG_SCALAR ? "" : "*", arg->name);
	}
	str_addf(out, ")");
}

/* Whose code it is, in words, and what it is built by. */
struct side {
	const char *name, *build, *folder, *symbol_key, *symbol, *library;
};

static struct side side_of(const struct task *task, enum worker_role role)
{
	if (role == WORKER_ORACLE)
		return (struct side){ "the oracle",        "oracle.build",
				      "evaluate/",         "oracle.symbol",
				      task->oracle.symbol, task->oracle.build.out.items[0] };
	return (struct side){ role == WORKER_CANDIDATE ? "the workspace as it is" : "the baseline",
			      role == WORKER_BASELINE &&
					      task->baseline.argv.items != task->build.argv.items
				      ? "baseline.build"
				      : "build",
			      "workspace/",
			      "entry.symbol",
			      task->entry.symbol,
			      task->build.out.items[0] };
}

static const char called[] =
	"compare name, order and type of its parameters with how the task says it is called";

static int on_death(const struct side *side, const struct mark *mark, const char *prototype,
		    struct err *err)
{
	char how[32] = "";

	if (!mark->has_case)
		return err_set(err, ERR_INPUT,
			       "%s ends its process before it is called: is there a constructor "
			       "in its library?",
			       side->name);
	if (mark->end.ending == WORKER_EXITED || mark->end.ending == WORKER_SIGNALED)
		snprintf(how, sizeof(how), " (%s %d)",
			 mark->end.ending == WORKER_EXITED ? "exit code" : "signal",
			 mark->end.code);
	return err_set(err, ERR_INPUT,
		       "entry.args: %s crashes%s; is an argument missing there, or in another "
		       "place? %s: %s",
		       side->name, how, called, prototype);
}

static int on_timeout(const struct task *task, const struct side *side, const struct mark *mark,
		      struct err *err)
{
	if (!mark->has_case)
		return err_set(err, ERR_INPUT,
			       "%s takes longer than %lld s to load, before it is called: does a "
			       "constructor in its library wait, or start processes that keep the "
			       "CPU?",
			       side->name, (long long) (JUDGE_START_NS / NS_PER_S));
	return err_set(err, ERR_INPUT,
		       "mark.call_wall: a call of %s takes longer than %llu ms; raise it, or make "
		       "cases smaller",
		       side->name, (unsigned long long) task->mark.call_wall_ms);
}

static int on_value(const struct task *task, const struct side *side, const struct mark *mark,
		    const char *prototype, struct err *err)
{
	const char *name = cases_arg_name(&task->cases, mark->arg), *arg = name ? name : "?";

	if (mark->reason == REASON_UNWRITTEN)
		return err_set(err, ERR_INPUT,
			       "args.%s: %s does not write element %llu; is the shape too large, "
			       "or an argument of entry.args in another place? %s: %s",
			       arg, side->name, (unsigned long long) mark->index, called,
			       prototype);
	return err_set(err, ERR_INPUT,
		       "args.%s: %s and the oracle disagree at element %llu: %.9g, and the oracle "
		       "wants %.9g; if that is near enough, widen args.%s.compare; else correct "
		       "one of both, or %s: %s",
		       arg, side->name, (unsigned long long) mark->index, mark->got, mark->want,
		       arg, called, prototype);
}

static int on_reason(const struct task *task, const struct side *side, const struct mark *mark,
		     const char *prototype, struct err *err)
{
	switch (mark->reason) {
	case REASON_NO_LIBRARY:
		return err_set(err, ERR_INPUT,
			       "%s.out: '%s' can not be loaded as a shared library; build it with "
			       "-shared and -fPIC, and name the libraries that it uses, such as "
			       "-lm; or it uses a "
			       "function that neither it nor a library that it names defines "
			       "(-Wl,-z,defs shows which)",
			       side->build, side->library);
	case REASON_NO_SYMBOL:
		return err_set(err, ERR_INPUT,
			       "%s: the library of %s has no function '%s'; write the name of one "
			       "that %s defines, and that is not static (in C++: extern \"C\")",
			       side->symbol_key, side->name, side->symbol, side->folder);
	case REASON_DIED:
		return on_death(side, mark, prototype, err);
	case REASON_MEMORY:
		return err_set(err, ERR_INPUT,
			       "%s reaches the memory limit of the policy's worker; make cases "
			       "smaller, or raise worker.memory of the policy",
			       side->name);
	case REASON_TIMEOUT:
		return on_timeout(task, side, mark, err);
	case REASON_VALUE:
	case REASON_UNWRITTEN:
		return on_value(task, side, mark, prototype, err);
	case REASON_REDZONE:
		return err_set(err, ERR_INPUT,
			       "args: %s writes outside its outputs; is a shape too small, or an "
			       "argument of entry.args in another place? %s: %s",
			       side->name, called, prototype);
	case REASON_INPUT:
		return err_set(err, ERR_INPUT,
			       "args: %s writes to an argument that is `in`; %s: %s", side->name,
			       called, prototype);
	case REASON_NONE:
	case REASON_BAD_CALL:
	case REASON_LATE:
	case REASON_PROTOCOL:
		break;
	}
	return err_set(err, ERR_INPUT, "%s fails: %s; it is called as %s", side->name,
		       names_text(mark_reason_names, (int) mark->reason), prototype);
}

int advice_on_mark(const struct task *task, const struct mark *mark, const char *where,
		   struct err *err)
{
	cleanup(str_done) struct str prototype = STR_INIT;
	const struct side side = side_of(task, mark->role);

	advice_prototype(task, mark->role, &prototype);
	on_reason(task, &side, mark, prototype.text, err);
	return where && mark->has_case ? err_wrap(err, "case %s", where) : -1;
}

/* --- the agent's jail --- */

static int on_flags(const struct jail_result *result, struct err *err)
{
	if (result->flags & JAIL_PIDS_HIT)
		return err_set(err, ERR_INPUT,
			       "limits.pids: the agent's jail reaches it while `check` builds the "
			       "workspace as it is; raise it");
	if (result->flags & (JAIL_DISK_FULL | JAIL_INODES_FULL))
		return err_set(err, ERR_INPUT,
			       "limits.%s: a file system of the agent's jail is full when `check` "
			       "has built the workspace as it is; raise it",
			       result->flags & JAIL_DISK_FULL ? "workspace" : "inodes");
	return 0;
}

static int on_ending(const struct jail_result *result, struct err *err)
{
	const char *key = NULL;

	switch ((enum ending) result->ending) {
	case ENDING_OOM:
		key = "memory";
		break;
	case ENDING_TIMEOUT:
	case ENDING_CPU:
	case ENDING_IDLE:
		key = "wall";
		break;
	case ENDING_OUTPUT:
		key = "output";
		break;
	case ENDING_FULL:
		key = "workspace";
		break;
	case ENDING_EXITED:
	case ENDING_SIGNALED:
	case ENDING_STOPPED:
	case ENDING_LAUNCHER_LOST:
		return 0;
	}
	return err_set(err, ERR_INPUT,
		       "limits.%s: too small for `check` over the workspace as it is (%s); raise "
		       "it, or leave it to the policy",
		       key, names_text(ending_names, (int) result->ending));
}

int advice_on_agent(const struct task *task, const struct jail_outcome *outcome, const char *said,
		    struct err *err)
{
	const struct jail_result *result = &outcome->last.result;

	if (outcome->last.kind == EVENT_NOT_FOUND || outcome->last.kind == EVENT_NOT_EXECUTABLE)
		return err_set(err, ERR_INPUT, "check.argv: '%s': %s", task->check.items[0],
			       outcome->last.err.text);
	if (outcome->last.kind != EVENT_ENDED) {
		*err = outcome->last.err;
		if (err->kind != ERR_INPUT)
			return err_wrap(err, "the agent's jail");
		return err_wrap(err, "limits: the agent's jail can not hold the workspace; raise "
				     "limits.workspace or limits.inodes");
	}
	if (outcome->stopped)
		return err_set(err, ERR_SYS, "stopped by the operator");
	if (on_ending(result, err) < 0)
		return -1;
	if (result->ending == ENDING_EXITED && result->code == 0)
		return 0;
	if (on_flags(result, err) < 0)
		return -1;
	return err_set(err, ERR_INPUT,
		       "check: in the agent's jail, over the workspace as it is, it ends with %s "
		       "%d; %s",
		       result->ending == ENDING_EXITED ? "code" : "signal", result->code, said);
}
