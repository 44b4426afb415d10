"""The verbs that work: one check, the service, the demo, the laboratory and retention. One module a verb."""
