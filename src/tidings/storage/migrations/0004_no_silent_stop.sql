-- What is needed so that nothing stops without a word.
ALTER TABLE page ADD COLUMN problem TEXT DEFAULT '' NOT NULL;
-- Of pages with one version the log says why it cannot be compared.
UPDATE page SET problem = coalesce(json_extract(e.data, '$.problem'), '')
  FROM event AS e
  JOIN (SELECT owner_id, max(seq) AS seq FROM event WHERE type = 'page.first' GROUP BY owner_id, page_id) AS newest
    ON newest.owner_id = e.owner_id AND newest.seq = e.seq
  WHERE e.page_id = page.id AND page.last_seq = 1;
ALTER TABLE endpoint ADD COLUMN held_until BIGINT;
ALTER TABLE endpoint ADD COLUMN tried_at BIGINT;
ALTER TABLE endpoint ADD COLUMN noticed SMALLINT DEFAULT 0 NOT NULL;
ALTER TABLE endpoint ADD COLUMN scheme TEXT DEFAULT '' NOT NULL;
ALTER TABLE delivery ADD COLUMN holds SMALLINT DEFAULT 1 NOT NULL;
ALTER TABLE instance ADD COLUMN place TEXT DEFAULT '' NOT NULL;
ALTER TABLE host ADD COLUMN unconditional_at BIGINT;
