"""The verbs, in the order of a page's life: register, activate, plan, poll, detect, deliver."""
