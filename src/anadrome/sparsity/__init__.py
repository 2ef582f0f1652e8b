"""Which derivatives can be anything but zero: the forward derivative on sets of inputs instead of numbers."""
