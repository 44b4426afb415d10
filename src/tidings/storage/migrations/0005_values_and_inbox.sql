-- The course of watched values over time: prices, numbers, cells.
CREATE TABLE watched_value (
  sentinel_id BIGINT NOT NULL,
  page_id BIGINT NOT NULL,
  label TEXT NOT NULL,
  at BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  text TEXT NOT NULL,
  amount TEXT DEFAULT '' NOT NULL,
  unit TEXT DEFAULT '' NOT NULL,
  CONSTRAINT pk_watched_value PRIMARY KEY (sentinel_id, page_id, label, at),
  CONSTRAINT fk_watched_value_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id),
  CONSTRAINT fk_watched_value_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);
-- What people did with changes in the inbox; a change without a row is unread.
CREATE TABLE inbox_mark (
  owner_id BIGINT NOT NULL,
  change_id TEXT NOT NULL,
  read_at BIGINT,
  kept_at BIGINT,
  CONSTRAINT pk_inbox_mark PRIMARY KEY (owner_id, change_id)
);
