"""Lambda on one machine: every concurrent invocation is an operating-system process of its own."""
