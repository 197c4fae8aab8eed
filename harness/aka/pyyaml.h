/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/pyvalue.h"
#include "sandbox/base/str.h"

/*
 * YAML as PyYAML's yaml.dump(…, default_flow_style=False, sort_keys=False) writes it, byte for
 * byte: which texts stand plain and which in quotes, where lines of more than 80 columns are
 * folded, and the anchors of a list or dictionary that is there more than once.
 */

/**
 * pyyaml_dump() - append a dictionary as a document
 */
void pyyaml_dump(struct str *out, const struct pyvalue *root);
