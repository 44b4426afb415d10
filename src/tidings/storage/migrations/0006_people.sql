-- People: an owner with a role is an account. Sessions and tokens are kept as hashes of what their holders show.
ALTER TABLE owner ADD COLUMN role TEXT DEFAULT '' NOT NULL;
ALTER TABLE owner ADD COLUMN password TEXT DEFAULT '' NOT NULL;
ALTER TABLE owner ADD COLUMN created_at BIGINT DEFAULT 0 NOT NULL;
CREATE TABLE session (
  hash TEXT NOT NULL,
  owner_id BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  used_at BIGINT NOT NULL,
  CONSTRAINT pk_session PRIMARY KEY (hash),
  CONSTRAINT fk_session_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);
CREATE TABLE token (
  id INTEGER NOT NULL CONSTRAINT pk_token PRIMARY KEY AUTOINCREMENT,
  owner_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  scope TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  used_at BIGINT,
  CONSTRAINT uq_token_hash UNIQUE (hash),
  CONSTRAINT uq_token_name UNIQUE (name),
  CONSTRAINT fk_token_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);
-- The sentinels of an owner that have such a tag are shown to all accounts.
CREATE TABLE shared_tag (
  owner_id BIGINT NOT NULL,
  tag TEXT NOT NULL,
  CONSTRAINT pk_shared_tag PRIMARY KEY (owner_id, tag),
  CONSTRAINT fk_shared_tag_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);
-- How to log in by a form before a page is asked for.
ALTER TABLE page ADD COLUMN login TEXT DEFAULT '' NOT NULL;
