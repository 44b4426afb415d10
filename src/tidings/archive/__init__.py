"""The archive: the bodies of all versions, as zstd frames that lean on their neighbours (contracts §1, §3).

It only encodes, decodes and owns the files under `blobs/`; the rows that name them belong to `storage`.
"""
