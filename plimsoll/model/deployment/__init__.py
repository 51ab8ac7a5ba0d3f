"""The deployment as data: configuration, functions, tables, rules, events."""
