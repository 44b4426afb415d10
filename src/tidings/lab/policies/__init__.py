"""Policies of papers and crawlers, to compare with those of `scheduling.policies`; `table` names them. The service runs none of them."""
