"""Lambda on one machine: each concurrent invocation is an operating-system process of its own."""
