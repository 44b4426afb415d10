"""How a crawler shares out its polls: rates that are best under a budget, and instants for them (papers 002's baselines and what came since)."""
