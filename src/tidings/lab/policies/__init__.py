"""Policies of papers and crawlers, to compare with those of `scheduling.policies`; `lab.compare`
lists them. The service uses none of them.
"""
