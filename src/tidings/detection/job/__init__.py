"""One fetched body examined in a worker process: charset, digests, doubts, all comparisons that wait for it, and what it teaches of noise. The
contract is what goes to the worker and what comes back. Nothing here runs in the parent but `run`.
"""
