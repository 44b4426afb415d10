"""The archive: the bodies of all versions, as zstd frames with deltas between neighbours (contracts
§1, §3).

It encodes, decodes and owns the files under `blobs/`; their rows belong to `storage`.
"""
