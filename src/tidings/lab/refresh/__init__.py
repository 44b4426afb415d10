"""How a crawler distributes its polls: optimal rates under a budget, and instants for them (papers
002's baselines and successors).
"""
