"""The command line: one module a verb, imported only when it is asked for."""
