"""The original takes this file's place in a workspace."""

raise RuntimeError("the helpers were not put in")
