-- What people did with changes in the inbox; a change without a row is unread.
CREATE TABLE inbox_mark (
  owner_id BIGINT NOT NULL,
  change_id TEXT NOT NULL,
  read_at BIGINT,
  kept_at BIGINT,
  CONSTRAINT pk_inbox_mark PRIMARY KEY (owner_id, change_id)
);
