-- Events of other origin, hints of what is new, what pages of noise are known by, and what else sentinels may say since.
CREATE TABLE event_source (
  id INTEGER NOT NULL CONSTRAINT pk_event_source PRIMARY KEY AUTOINCREMENT,
  owner_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  origin TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  due_at BIGINT,
  checked_at BIGINT,
  state TEXT DEFAULT '{}' NOT NULL,
  happened BIGINT DEFAULT 0 NOT NULL,
  happened_at BIGINT,
  problem TEXT DEFAULT '' NOT NULL,
  CONSTRAINT fk_event_source_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id),
  CONSTRAINT uq_event_source_owner_id_name UNIQUE (owner_id, name)
);
CREATE TABLE event_key (
  source_id BIGINT NOT NULL,
  taken_key TEXT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_event_key PRIMARY KEY (source_id, taken_key),
  CONSTRAINT fk_event_key_source_id FOREIGN KEY (source_id) REFERENCES event_source (id)
);
CREATE INDEX ix_event_key_at ON event_key (at);
CREATE INDEX ix_delivery_endpoint_id_finished_at_sentinel_id_id ON delivery (endpoint_id, finished_at, sentinel_id, id);
CREATE TABLE trust (
  host TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_trust PRIMARY KEY (host, kind)
);
CREATE TABLE hint (
  page_id BIGINT NOT NULL,
  kind TEXT NOT NULL,
  waiting TEXT DEFAULT '[]' NOT NULL,
  state TEXT DEFAULT '{}' NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_hint PRIMARY KEY (page_id, kind),
  CONSTRAINT fk_hint_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);
CREATE TABLE signal_key (
  taken_key TEXT NOT NULL,
  pages BIGINT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_signal_key PRIMARY KEY (taken_key)
);
CREATE INDEX ix_signal_key_at ON signal_key (at);
CREATE TABLE websub (
  page_id BIGINT NOT NULL,
  hub TEXT NOT NULL,
  topic TEXT NOT NULL,
  token TEXT NOT NULL,
  state TEXT NOT NULL,
  asked_at BIGINT,
  until BIGINT,
  due_at BIGINT,
  attempts BIGINT DEFAULT 0 NOT NULL,
  problem TEXT DEFAULT '' NOT NULL,
  CONSTRAINT pk_websub PRIMARY KEY (page_id),
  CONSTRAINT fk_websub_page_id FOREIGN KEY (page_id) REFERENCES page (id),
  CONSTRAINT uq_websub_token UNIQUE (token)
);
ALTER TABLE subscription ADD COLUMN remembered TEXT DEFAULT '' NOT NULL;
ALTER TABLE subscription ADD COLUMN learned TEXT DEFAULT '' NOT NULL;
ALTER TABLE page ADD COLUMN differing BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE page ADD COLUMN differing_soon BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE page ADD COLUMN saturated_quiet BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE page ADD COLUMN saturated_at BIGINT;
