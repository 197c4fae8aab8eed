# Tests would be here.
