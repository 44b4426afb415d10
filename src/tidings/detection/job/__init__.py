"""Examine one fetched body in a worker process: charset, digests, plausibility, all pending
comparisons, and its noise. The contract is the input and output of the worker. Only `run` is used
in the parent.
"""
