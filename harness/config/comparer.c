/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/comparer.h"

#include <math.h>
#include <string.h>

#include "harness/config/element.h"
#include "harness/config/types.h"

/* Words of the format for which this version has no code. */
static const char *const later[] = { "set", "ties" };

#define FORMS "close(rel=1e-5, abs=1e-6), ulp(2) or exact"

/*
 * Reads "NAME(KEY=number, …)" with the keys in this order; a key that is "" stands for a bare
 * number. Blanks may stand behind the parenthesis and around commas. False: it is not of this form.
 */
static bool read_call(const char *text, const char *name, const char *const *keys, size_t count,
		      double *numbers)
{
	const char *at = text + strlen(name);

	if (strncmp(text, name, strlen(name)) != 0 || *at != '(')
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t key = strlen(keys[i]), len;
		char word[64];

		at += 1 + strspn(at + 1, " ");
		if (strncmp(at, keys[i], key) != 0)
			return false;
		at += key;
		len = strcspn(at, " ,)");
		if (len >= sizeof(word))
			return false;
		memcpy(word, at, len);
		word[len] = '\0';
		at += len;
		at += strspn(at, " ");
		if (types_parse_number(word, &numbers[i]) < 0 || *at != (i + 1 < count ? ',' : ')'))
			return false;
	}
	return at[1] == '\0';
}

static int wrong_form(const struct yaml_node *node, struct err *err)
{
	char room[YAML_SHOWN];
	size_t len = strcspn(node->text, "( ");

	for (size_t i = 0; i < ARRAY_LEN(later); i++)
		if (strlen(later[i]) == len && strncmp(node->text, later[i], len) == 0)
			return yaml_err(node, err,
					"'%s' is not supported yet by this version; write " FORMS,
					later[i]);
	return yaml_err(node, err, "'%s' is not of the form " FORMS, yaml_shown(node->text, room));
}

const char *comparer_fault(const struct comparer *comparer, uint32_t element)
{
	switch (comparer->kind) {
	case COMPARER_EXACT:
		return NULL;
	case COMPARER_ULP:
		if (!element_is_real(element))
			return "ulp is for real types; whole numbers have close and exact";
		return comparer->ulps > COMPARER_ULPS_MAX ? "ulp has to be within 0..1048576"
							  : NULL;
	case COMPARER_CLOSE:
		return comparer->rel >= 0 && comparer->rel < 1 && comparer->abs >= 0 &&
				       isfinite(comparer->abs)
			     ? NULL
			     : "rel has to be within 0..1, abs not below 0";
	default:
		return "its comparer is unknown";
	}
}

int comparer_read(const struct yaml_node *node, uint32_t element, struct comparer *out,
		  struct err *err)
{
	static const char *const bounds[] = { "rel=", "abs=" };
	static const char *const bare[] = { "" };
	struct comparer made = { .kind = COMPARER_EXACT };
	double numbers[2];
	char room[YAML_SHOWN];
	const char *fault;

	if (read_call(node->text, "close", bounds, 2, numbers)) {
		made = (struct comparer){ COMPARER_CLOSE, 0, numbers[0], numbers[1], 0 };
	} else if (read_call(node->text, "ulp", bare, 1, numbers)) {
		made.kind = COMPARER_ULP;
		if (numbers[0] < 0 || numbers[0] > COMPARER_ULPS_MAX ||
		    numbers[0] != floor(numbers[0]))
			return yaml_err(node, err,
					"'%s': ulp has to be a whole number within 0..%d",
					yaml_shown(node->text, room), COMPARER_ULPS_MAX);
		made.ulps = (uint64_t) numbers[0];
	} else if (strcmp(node->text, "exact") != 0) {
		return wrong_form(node, err);
	}
	fault = comparer_fault(&made, element);
	if (fault)
		return yaml_err(node, err, "'%s': %s", yaml_shown(node->text, room), fault);
	*out = made;
	return 0;
}
