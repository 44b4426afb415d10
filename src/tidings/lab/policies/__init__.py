"""Policies of papers and crawlers, to compare with those of `scheduling.policies`; `lab.compare` names them. The service runs none of them."""
