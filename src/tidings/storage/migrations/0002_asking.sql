-- How a page is asked for beyond its address, what of it is kept, how long its server says that it stays fresh; lives, windows, rules.
-- A body's hash gives way to the body, or to the name of the secret that holds it.
ALTER TABLE page DROP COLUMN body_sha256;
ALTER TABLE page ADD COLUMN body TEXT DEFAULT '' NOT NULL;
ALTER TABLE page ADD COLUMN trust TEXT DEFAULT '' NOT NULL;
ALTER TABLE page ADD COLUMN proxy TEXT DEFAULT '' NOT NULL;
ALTER TABLE version ADD COLUMN screenshot TEXT DEFAULT '' NOT NULL;
ALTER TABLE subscription ADD COLUMN missing TEXT DEFAULT '' NOT NULL;
ALTER TABLE page ADD COLUMN fresh_until BIGINT;
ALTER TABLE page ADD COLUMN fresh_doubt BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE page ADD COLUMN moved_at BIGINT;
ALTER TABLE page ADD COLUMN moved_sights BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE version ADD COLUMN frames BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE version_member ADD COLUMN seq BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE page_member ADD COLUMN told SMALLINT DEFAULT 0 NOT NULL;
CREATE INDEX ix_version_member_sha256 ON version_member (sha256);
ALTER TABLE subscription ADD COLUMN number BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE subscription ADD COLUMN seen BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE page ADD COLUMN collected BIGINT DEFAULT 0 NOT NULL;
CREATE INDEX ix_version_screenshot ON version (screenshot) WHERE screenshot <> '';
ALTER TABLE subscription ADD COLUMN since BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE subscription ADD COLUMN paused BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE subscription ADD COLUMN altered_at BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE subscription ADD COLUMN left_at BIGINT;
CREATE TABLE tag_default (
  owner_id BIGINT NOT NULL,
  tag TEXT NOT NULL,
  text TEXT NOT NULL,
  CONSTRAINT pk_tag_default PRIMARY KEY (owner_id, tag),
  CONSTRAINT fk_tag_default_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);
ALTER TABLE owner ADD COLUMN rules_seq BIGINT DEFAULT 0 NOT NULL;
-- What was before there were rules they have no need to hear.
UPDATE owner SET rules_seq = last_seq;
-- Secrets get an owner and a key; values from before stay readable and are encrypted when the service next starts.
CREATE TEMPORARY TABLE old_secret AS SELECT * FROM secret;
DROP TABLE secret;
CREATE TABLE secret (
  owner_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT DEFAULT 'text' NOT NULL,
  key_id TEXT DEFAULT '' NOT NULL,
  value TEXT NOT NULL,
  set_at BIGINT DEFAULT 0 NOT NULL,
  CONSTRAINT pk_secret PRIMARY KEY (owner_id, name),
  CONSTRAINT fk_secret_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);
INSERT INTO secret (owner_id, name, kind, value)
  SELECT 1, name, CASE name WHEN 'webhook' THEN 'signing' ELSE 'text' END, value FROM old_secret;
DROP TABLE old_secret;
