-- In which time zone somebody reads times; empty: in that of the browser.
ALTER TABLE owner ADD COLUMN zone TEXT DEFAULT '' NOT NULL;
-- Addresses that a collection has found: which of them are watched, which left out and why, and which are in its list of pages.
CREATE TABLE collection_page (
  sentinel_id BIGINT NOT NULL,
  url TEXT NOT NULL,
  page_id BIGINT,
  depth BIGINT NOT NULL,
  kind TEXT DEFAULT 'page' NOT NULL,
  state TEXT DEFAULT 'found' NOT NULL,
  reason TEXT DEFAULT '' NOT NULL,
  anchor TEXT DEFAULT '' NOT NULL,
  title TEXT DEFAULT '' NOT NULL,
  sketch TEXT DEFAULT '' NOT NULL,
  found_on BIGINT,
  found_at BIGINT NOT NULL,
  is_news SMALLINT DEFAULT 0 NOT NULL,
  is_listed SMALLINT DEFAULT 0 NOT NULL,
  read_seq BIGINT DEFAULT 0 NOT NULL,
  yielded BIGINT DEFAULT 0 NOT NULL,
  CONSTRAINT pk_collection_page PRIMARY KEY (sentinel_id, url),
  CONSTRAINT fk_collection_page_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id),
  CONSTRAINT fk_collection_page_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);
CREATE INDEX ix_collection_page_page_id ON collection_page (page_id);

-- How many checks a day the sentinels of somebody may spend together; 0: as many as the budget allows.
ALTER TABLE owner ADD COLUMN checks_per_day FLOAT DEFAULT 0 NOT NULL;
