"""What alembic runs: the steps, on the connection that `storage.migrate` hands over, inside its transaction."""

from __future__ import annotations

from alembic import context

from tidings.storage.db.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,
    render_as_batch=False,
)
context.run_migrations()
