"""Steps from one schema to the next, run by `storage.migrate` when the stored revision is not the newest."""
