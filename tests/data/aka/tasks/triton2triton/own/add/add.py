# Kernel and tests would be here.
