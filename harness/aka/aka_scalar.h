/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/yaml.h"
#include "sandbox/base/names.h"

/*
 * What a plain text of YAML is to AgentKernelArena, whose reader (PyYAML, YAML 1.1) makes numbers,
 * booleans, dates and nothing of some. Quoted texts, and those in blocks, are texts.
 */
enum aka_scalar {
	AKA_SCALAR_TEXT,
	AKA_SCALAR_NULL,
	AKA_SCALAR_BOOL,
	AKA_SCALAR_INT,
	AKA_SCALAR_FLOAT,
	AKA_SCALAR_DATE,
};

/* "text", "null", "bool", "int", "float", "date" */
extern const struct name aka_scalar_names[];

/**
 * aka_scalar_kind() - what @node is, which is a YAML_TEXT
 */
enum aka_scalar aka_scalar_kind(const struct yaml_node *node) must_check;

/**
 * aka_scalar_is_null() - is there no value: no node, or one that says so
 */
bool aka_scalar_is_null(const struct yaml_node *node) must_check;
