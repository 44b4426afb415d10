-- Addresses of a collection that failed are requested again. When its list was published, and for which revision its addresses stand, is stored.
ALTER TABLE collection_page ADD COLUMN since BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE collection_page ADD COLUMN retry_at BIGINT;
ALTER TABLE collection_page ADD COLUMN tries BIGINT DEFAULT 0 NOT NULL;
UPDATE collection_page SET retry_at = 0, tries = 1 WHERE state = 'gone' OR (state = 'left' AND read_seq = 0 AND page_id IS NOT NULL);
CREATE TABLE collection (
  sentinel_id BIGINT NOT NULL,
  revision BIGINT DEFAULT 1 NOT NULL,
  news_at BIGINT DEFAULT 0 NOT NULL,
  quiet_at BIGINT DEFAULT 0 NOT NULL,
  CONSTRAINT pk_collection PRIMARY KEY (sentinel_id),
  CONSTRAINT fk_collection_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id)
);
