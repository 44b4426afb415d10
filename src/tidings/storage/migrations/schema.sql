-- Every table, as a new database is made. The migrations beside this file bring an older one to the same.
--
-- One text for both databases, in the words of SQLite (`storage.db.schema` has PostgreSQL's). Ids never come back (AUTOINCREMENT),
-- times are BIGINT microseconds since 1970 UTC, truths are SMALLINT 0 or 1, structures are JSON in TEXT.

CREATE TABLE blob (
  sha256 TEXT NOT NULL,
  size BIGINT NOT NULL,
  base TEXT DEFAULT '' NOT NULL,
  height BIGINT DEFAULT 0 NOT NULL,
  frame BLOB,
  file TEXT,
  CONSTRAINT pk_blob PRIMARY KEY (sha256)
);
CREATE INDEX ix_blob_base ON blob (base) WHERE base <> '';

CREATE TABLE budget (
  name TEXT NOT NULL,
  rate_per_second DOUBLE NOT NULL,
  burst DOUBLE NOT NULL,
  level DOUBLE NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_budget PRIMARY KEY (name)
);

CREATE TABLE garbage (
  path TEXT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_garbage PRIMARY KEY (path)
);

CREATE TABLE host (
  name TEXT NOT NULL,
  started_at BIGINT,
  paused_until BIGINT,
  failures BIGINT DEFAULT 0 NOT NULL,
  robots BLOB,
  robots_status TEXT DEFAULT '' NOT NULL,
  robots_at BIGINT,
  unconditional_at BIGINT,
  CONSTRAINT pk_host PRIMARY KEY (name)
);

CREATE TABLE instance (
  id TEXT NOT NULL,
  restore_epoch BIGINT DEFAULT 0 NOT NULL,
  hash_seed BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  place TEXT DEFAULT '' NOT NULL,
  CONSTRAINT pk_instance PRIMARY KEY (id)
);

CREATE TABLE lease (
  name TEXT NOT NULL,
  holder TEXT DEFAULT '' NOT NULL,
  epoch BIGINT DEFAULT 0 NOT NULL,
  until BIGINT DEFAULT 0 NOT NULL,
  note TEXT DEFAULT '' NOT NULL,
  CONSTRAINT pk_lease PRIMARY KEY (name)
);

CREATE TABLE owner (
  id INTEGER NOT NULL CONSTRAINT pk_owner PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  last_seq BIGINT DEFAULT 0 NOT NULL,
  rules_seq BIGINT DEFAULT 0 NOT NULL,
  role TEXT DEFAULT '' NOT NULL,
  password TEXT DEFAULT '' NOT NULL,
  created_at BIGINT DEFAULT 0 NOT NULL,
  zone TEXT DEFAULT '' NOT NULL,
  checks_per_day FLOAT DEFAULT 0 NOT NULL,
  states_stored BIGINT DEFAULT 0 NOT NULL,
  events_deleted BIGINT DEFAULT 0 NOT NULL,
  stream_deleted BIGINT DEFAULT 0 NOT NULL
);

CREATE TABLE signal_key (
  taken_key TEXT NOT NULL,
  pages BIGINT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_signal_key PRIMARY KEY (taken_key)
);
CREATE INDEX ix_signal_key_at ON signal_key (at);

CREATE TABLE inbox_mark (
  owner_id BIGINT NOT NULL,
  change_id TEXT NOT NULL,
  read_at BIGINT,
  kept_at BIGINT,
  CONSTRAINT pk_inbox_mark PRIMARY KEY (owner_id, change_id)
);

CREATE TABLE timer (
  kind TEXT NOT NULL,
  ref BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  data TEXT DEFAULT '{}' NOT NULL,
  CONSTRAINT pk_timer PRIMARY KEY (kind, ref)
);
CREATE INDEX ix_timer_due_at ON timer (due_at);

CREATE TABLE trust (
  host TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_trust PRIMARY KEY (host, kind)
);

CREATE TABLE endpoint (
  id INTEGER NOT NULL CONSTRAINT pk_endpoint PRIMARY KEY AUTOINCREMENT,
  owner_id BIGINT NOT NULL,
  kind TEXT NOT NULL,
  address TEXT NOT NULL,
  enabled SMALLINT DEFAULT 1 NOT NULL,
  failing_since BIGINT,
  reason TEXT DEFAULT '' NOT NULL,
  held_until BIGINT,
  tried_at BIGINT,
  noticed SMALLINT DEFAULT 0 NOT NULL,
  scheme TEXT DEFAULT '' NOT NULL,
  CONSTRAINT uq_endpoint_owner_id_kind_address UNIQUE (owner_id, kind, address),
  CONSTRAINT fk_endpoint_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);

CREATE TABLE event (
  owner_id BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  type TEXT NOT NULL,
  at BIGINT NOT NULL,
  sentinel_id BIGINT,
  page_id BIGINT,
  change_id TEXT,
  data TEXT DEFAULT '{}' NOT NULL,
  CONSTRAINT pk_event PRIMARY KEY (owner_id, seq),
  CONSTRAINT fk_event_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
) WITHOUT ROWID;
CREATE INDEX ix_event_change_id ON event (change_id) WHERE change_id IS NOT NULL;
CREATE INDEX ix_event_first ON event (page_id) WHERE type = 'page.first';
CREATE INDEX ix_event_type ON event (type, seq);

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
  CONSTRAINT uq_event_source_owner_id_name UNIQUE (owner_id, name),
  CONSTRAINT fk_event_source_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);

CREATE TABLE page (
  id INTEGER NOT NULL CONSTRAINT pk_page PRIMARY KEY AUTOINCREMENT,
  "key" TEXT NOT NULL,
  url TEXT NOT NULL,
  given TEXT NOT NULL,
  host TEXT NOT NULL,
  method TEXT DEFAULT 'GET' NOT NULL,
  render TEXT DEFAULT '' NOT NULL,
  frames BIGINT DEFAULT 0 NOT NULL,
  headers TEXT DEFAULT '[]' NOT NULL,
  owner_id BIGINT,
  last_seq BIGINT DEFAULT 0 NOT NULL,
  body_size BIGINT DEFAULT (-1) NOT NULL,
  body_xxh3 TEXT DEFAULT '' NOT NULL,
  text_digest TEXT DEFAULT '' NOT NULL,
  charset TEXT DEFAULT '' NOT NULL,
  title TEXT DEFAULT '' NOT NULL,
  final_url TEXT DEFAULT '' NOT NULL,
  etag BLOB,
  last_modified BLOB,
  polled_at BIGINT,
  checked_at BIGINT,
  changed_at BIGINT,
  text_changed_at BIGINT,
  health TEXT DEFAULT 'ok' NOT NULL,
  kind TEXT DEFAULT '' NOT NULL,
  reason TEXT DEFAULT '' NOT NULL,
  failures BIGINT DEFAULT 0 NOT NULL,
  failing_since BIGINT,
  retry_at BIGINT,
  polls BIGINT DEFAULT 0 NOT NULL,
  changes BIGINT DEFAULT 0 NOT NULL,
  unconditional_in BIGINT DEFAULT 0 NOT NULL,
  honest_streak BIGINT DEFAULT 0 NOT NULL,
  audited_at BIGINT,
  suspect_kind TEXT DEFAULT '' NOT NULL,
  suspect_sha256 TEXT DEFAULT '' NOT NULL,
  suspect_at BIGINT,
  moved_to TEXT DEFAULT '' NOT NULL,
  moved_at BIGINT,
  moved_sights BIGINT DEFAULT 0 NOT NULL,
  body TEXT DEFAULT '' NOT NULL,
  trust TEXT DEFAULT '' NOT NULL,
  proxy TEXT DEFAULT '' NOT NULL,
  fresh_until BIGINT,
  fresh_doubt BIGINT DEFAULT 0 NOT NULL,
  collected BIGINT DEFAULT 0 NOT NULL,
  differing BIGINT DEFAULT 0 NOT NULL,
  differing_soon BIGINT DEFAULT 0 NOT NULL,
  saturated_quiet BIGINT DEFAULT 0 NOT NULL,
  saturated_at BIGINT,
  problem TEXT DEFAULT '' NOT NULL,
  login TEXT DEFAULT '' NOT NULL,
  steps TEXT DEFAULT '' NOT NULL,
  polls_deleted BIGINT DEFAULT 0 NOT NULL,
  CONSTRAINT uq_page_key UNIQUE ("key"),
  CONSTRAINT fk_page_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);
CREATE INDEX ix_page_host ON page (host);

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

CREATE TABLE sentinel (
  id INTEGER NOT NULL CONSTRAINT pk_sentinel PRIMARY KEY AUTOINCREMENT,
  owner_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  dropped BIGINT DEFAULT 0 NOT NULL,
  state TEXT NOT NULL,
  reason TEXT DEFAULT '' NOT NULL,
  revision BIGINT DEFAULT 1 NOT NULL,
  start_at BIGINT,
  end_at BIGINT,
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  base_id BIGINT,
  CONSTRAINT uq_sentinel_owner_id_name_dropped UNIQUE (owner_id, name, dropped),
  CONSTRAINT fk_sentinel_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id),
  CONSTRAINT fk_sentinel_base_id FOREIGN KEY (base_id) REFERENCES sentinel (id)
);

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

CREATE TABLE shared_tag (
  owner_id BIGINT NOT NULL,
  tag TEXT NOT NULL,
  CONSTRAINT pk_shared_tag PRIMARY KEY (owner_id, tag),
  CONSTRAINT fk_shared_tag_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);

CREATE TABLE published_tag (
  token TEXT NOT NULL,
  owner_id BIGINT NOT NULL,
  tag TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  CONSTRAINT pk_published_tag PRIMARY KEY (token),
  CONSTRAINT uq_published_tag_owner_id_tag UNIQUE (owner_id, tag),
  CONSTRAINT fk_published_tag_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);

CREATE TABLE tag_default (
  owner_id BIGINT NOT NULL,
  tag TEXT NOT NULL,
  text TEXT NOT NULL,
  CONSTRAINT pk_tag_default PRIMARY KEY (owner_id, tag),
  CONSTRAINT fk_tag_default_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);

CREATE TABLE delivery (
  id TEXT NOT NULL,
  endpoint_id BIGINT NOT NULL,
  sentinel_id BIGINT NOT NULL,
  first_seq BIGINT NOT NULL,
  last_seq BIGINT NOT NULL,
  changes BIGINT DEFAULT 1 NOT NULL,
  subject TEXT DEFAULT '' NOT NULL,
  content_type TEXT NOT NULL,
  body BLOB NOT NULL,
  status TEXT NOT NULL,
  attempt BIGINT DEFAULT 0 NOT NULL,
  due_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  finished_at BIGINT,
  error TEXT DEFAULT '' NOT NULL,
  holds SMALLINT DEFAULT 1 NOT NULL,
  CONSTRAINT pk_delivery PRIMARY KEY (id),
  CONSTRAINT fk_delivery_endpoint_id FOREIGN KEY (endpoint_id) REFERENCES endpoint (id),
  CONSTRAINT fk_delivery_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id)
);
CREATE INDEX ix_delivery_body ON delivery (finished_at) WHERE status = 'delivered' AND length(body) > 0;
CREATE INDEX ix_delivery_created_at ON delivery (created_at);
CREATE INDEX ix_delivery_dead ON delivery (created_at) WHERE status = 'dead';
CREATE INDEX ix_delivery_endpoint_id_finished_at_sentinel_id_id ON delivery (endpoint_id, finished_at, sentinel_id, id);
CREATE INDEX ix_delivery_sentinel_id ON delivery (sentinel_id);
CREATE INDEX ix_delivery_waiting ON delivery (due_at) WHERE status = 'waiting';

CREATE TABLE collection (
  sentinel_id BIGINT NOT NULL,
  revision BIGINT DEFAULT 1 NOT NULL,
  news_at BIGINT DEFAULT 0 NOT NULL,
  quiet_at BIGINT DEFAULT 0 NOT NULL,
  CONSTRAINT pk_collection PRIMARY KEY (sentinel_id),
  CONSTRAINT fk_collection_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id)
);

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
  since BIGINT DEFAULT 0 NOT NULL,
  retry_at BIGINT,
  tries BIGINT DEFAULT 0 NOT NULL,
  CONSTRAINT pk_collection_page PRIMARY KEY (sentinel_id, url),
  CONSTRAINT fk_collection_page_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id),
  CONSTRAINT fk_collection_page_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);
CREATE INDEX ix_collection_page_page_id ON collection_page (page_id);

CREATE TABLE estimate (
  name TEXT NOT NULL,
  page_id BIGINT NOT NULL,
  state TEXT NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_estimate PRIMARY KEY (name, page_id),
  CONSTRAINT fk_estimate_page_id FOREIGN KEY (page_id) REFERENCES page (id)
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

CREATE TABLE hint (
  page_id BIGINT NOT NULL,
  kind TEXT NOT NULL,
  waiting TEXT DEFAULT '[]' NOT NULL,
  state TEXT DEFAULT '{}' NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_hint PRIMARY KEY (page_id, kind),
  CONSTRAINT fk_hint_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);

CREATE TABLE page_member (
  page_id BIGINT NOT NULL,
  position BIGINT NOT NULL,
  member_id BIGINT NOT NULL,
  told SMALLINT DEFAULT 0 NOT NULL,
  CONSTRAINT pk_page_member PRIMARY KEY (page_id, position),
  CONSTRAINT fk_page_member_page_id FOREIGN KEY (page_id) REFERENCES page (id),
  CONSTRAINT fk_page_member_member_id FOREIGN KEY (member_id) REFERENCES page (id)
);

CREATE TABLE poll (
  id INTEGER NOT NULL CONSTRAINT pk_poll PRIMARY KEY AUTOINCREMENT,
  page_id BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  charged_at BIGINT NOT NULL,
  cost DOUBLE NOT NULL,
  reason TEXT NOT NULL,
  budget TEXT NOT NULL,
  finished_at BIGINT,
  outcome TEXT,
  text_changed SMALLINT DEFAULT 0 NOT NULL,
  status BIGINT,
  kind TEXT DEFAULT '' NOT NULL,
  bytes BIGINT DEFAULT 0 NOT NULL,
  requests BIGINT DEFAULT 1 NOT NULL,
  note TEXT DEFAULT '' NOT NULL,
  CONSTRAINT fk_poll_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);
CREATE INDEX ix_poll_open ON poll (id) WHERE outcome IS NULL;
CREATE INDEX ix_poll_page_id ON poll (page_id);

CREATE TABLE quarantine (
  id INTEGER NOT NULL CONSTRAINT pk_quarantine PRIMARY KEY AUTOINCREMENT,
  page_id BIGINT NOT NULL,
  at BIGINT NOT NULL,
  kind TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  reason TEXT DEFAULT '' NOT NULL,
  CONSTRAINT fk_quarantine_page_id FOREIGN KEY (page_id) REFERENCES page (id),
  CONSTRAINT fk_quarantine_sha256 FOREIGN KEY (sha256) REFERENCES blob (sha256)
);
CREATE INDEX ix_quarantine_page_id ON quarantine (page_id);

CREATE TABLE request (
  id INTEGER NOT NULL CONSTRAINT pk_request PRIMARY KEY AUTOINCREMENT,
  page_id BIGINT NOT NULL,
  asked_at BIGINT NOT NULL,
  sentinel_id BIGINT,
  poll_id BIGINT,
  refused TEXT DEFAULT '' NOT NULL,
  CONSTRAINT fk_request_page_id FOREIGN KEY (page_id) REFERENCES page (id),
  CONSTRAINT fk_request_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id)
);
CREATE INDEX ix_request_open ON request (id) WHERE poll_id IS NULL AND refused = '';

CREATE TABLE rule_state (
  sentinel_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  changed BIGINT DEFAULT 0 NOT NULL,
  CONSTRAINT pk_rule_state PRIMARY KEY (sentinel_id, name),
  CONSTRAINT fk_rule_state_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id)
);
CREATE INDEX ix_rule_state_changed ON rule_state (changed);

CREATE TABLE sentinel_revision (
  sentinel_id BIGINT NOT NULL,
  number BIGINT NOT NULL,
  text TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  CONSTRAINT pk_sentinel_revision PRIMARY KEY (sentinel_id, number),
  CONSTRAINT fk_sentinel_revision_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id)
);

CREATE TABLE subscription (
  id INTEGER NOT NULL CONSTRAINT pk_subscription PRIMARY KEY AUTOINCREMENT,
  sentinel_id BIGINT NOT NULL,
  page_id BIGINT NOT NULL,
  label TEXT DEFAULT '' NOT NULL,
  revision BIGINT DEFAULT 1 NOT NULL,
  base BIGINT DEFAULT 0 NOT NULL,
  taken TEXT DEFAULT '[]' NOT NULL,
  next_tick BIGINT,
  ticked_at BIGINT,
  active SMALLINT DEFAULT 0 NOT NULL,
  missing TEXT DEFAULT '' NOT NULL,
  number BIGINT DEFAULT 0 NOT NULL,
  seen BIGINT DEFAULT 0 NOT NULL,
  since BIGINT DEFAULT 0 NOT NULL,
  paused BIGINT DEFAULT 0 NOT NULL,
  altered_at BIGINT DEFAULT 0 NOT NULL,
  left_at BIGINT,
  remembered TEXT DEFAULT '' NOT NULL,
  learned TEXT DEFAULT '' NOT NULL,
  CONSTRAINT uq_subscription_sentinel_id_page_id_label UNIQUE (sentinel_id, page_id, label),
  CONSTRAINT fk_subscription_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id),
  CONSTRAINT fk_subscription_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);
CREATE INDEX ix_subscription_page_id ON subscription (page_id);

CREATE TABLE tag (
  sentinel_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  CONSTRAINT pk_tag PRIMARY KEY (sentinel_id, name),
  CONSTRAINT fk_tag_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id)
);
CREATE INDEX ix_tag_name ON tag (name);

CREATE TABLE version (
  id INTEGER NOT NULL CONSTRAINT pk_version PRIMARY KEY AUTOINCREMENT,
  page_id BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  sha256 TEXT NOT NULL,
  size BIGINT NOT NULL,
  fetched_at BIGINT NOT NULL,
  modified_at BIGINT,
  charset TEXT DEFAULT '' NOT NULL,
  charset_source TEXT DEFAULT '' NOT NULL,
  content_type TEXT DEFAULT '' NOT NULL,
  title TEXT DEFAULT '' NOT NULL,
  final_url TEXT DEFAULT '' NOT NULL,
  status BIGINT DEFAULT 200 NOT NULL,
  headers TEXT DEFAULT '{}' NOT NULL,
  text_changed SMALLINT DEFAULT 1 NOT NULL,
  words BIGINT DEFAULT 0 NOT NULL,
  screenshot TEXT DEFAULT '' NOT NULL,
  frames BIGINT DEFAULT 0 NOT NULL,
  CONSTRAINT uq_version_page_id_seq UNIQUE (page_id, seq),
  CONSTRAINT fk_version_page_id FOREIGN KEY (page_id) REFERENCES page (id),
  CONSTRAINT fk_version_sha256 FOREIGN KEY (sha256) REFERENCES blob (sha256)
);
CREATE INDEX ix_version_screenshot ON version (screenshot) WHERE screenshot <> '';
CREATE INDEX ix_version_sha256 ON version (sha256);

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
  CONSTRAINT uq_websub_token UNIQUE (token),
  CONSTRAINT fk_websub_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);

CREATE TABLE change (
  id TEXT NOT NULL,
  event_seq BIGINT,
  sentinel_id BIGINT NOT NULL,
  subscription_id BIGINT NOT NULL,
  page_id BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  kind TEXT NOT NULL,
  from_seq BIGINT NOT NULL,
  to_seq BIGINT NOT NULL,
  rules_version BIGINT NOT NULL,
  extraction TEXT NOT NULL,
  quiet SMALLINT DEFAULT 0 NOT NULL,
  modified_at BIGINT,
  polled_at BIGINT NOT NULL,
  detected_at BIGINT NOT NULL,
  edits TEXT NOT NULL,
  objects TEXT NOT NULL,
  texts TEXT NOT NULL,
  CONSTRAINT pk_change PRIMARY KEY (id),
  CONSTRAINT fk_change_sentinel_id FOREIGN KEY (sentinel_id) REFERENCES sentinel (id),
  CONSTRAINT fk_change_subscription_id FOREIGN KEY (subscription_id) REFERENCES subscription (id),
  CONSTRAINT fk_change_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);
CREATE INDEX ix_change_detected_at ON change (detected_at);
CREATE INDEX ix_change_page_id ON change (page_id);
CREATE INDEX ix_change_sentinel_id_event_seq ON change (sentinel_id, event_seq);

CREATE TABLE comparison (
  subscription_id BIGINT NOT NULL,
  page_id BIGINT NOT NULL,
  from_seq BIGINT NOT NULL,
  to_seq BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  status TEXT NOT NULL,
  attempt BIGINT DEFAULT 0 NOT NULL,
  reason TEXT DEFAULT '' NOT NULL,
  at BIGINT NOT NULL,
  CONSTRAINT pk_comparison PRIMARY KEY (subscription_id, from_seq, to_seq, revision),
  CONSTRAINT fk_comparison_subscription_id FOREIGN KEY (subscription_id) REFERENCES subscription (id),
  CONSTRAINT fk_comparison_page_id FOREIGN KEY (page_id) REFERENCES page (id)
);
CREATE INDEX ix_comparison_pending ON comparison (at) WHERE status = 'pending';

CREATE TABLE digest (
  version_id BIGINT NOT NULL,
  extraction TEXT NOT NULL,
  rules_version BIGINT NOT NULL,
  text TEXT NOT NULL,
  objects TEXT DEFAULT '{}' NOT NULL,
  CONSTRAINT pk_digest PRIMARY KEY (version_id, extraction, rules_version),
  CONSTRAINT fk_digest_version_id FOREIGN KEY (version_id) REFERENCES version (id)
);

CREATE TABLE version_member (
  version_id BIGINT NOT NULL,
  position BIGINT NOT NULL,
  "key" TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  seq BIGINT DEFAULT 0 NOT NULL,
  CONSTRAINT pk_version_member PRIMARY KEY (version_id, position),
  CONSTRAINT fk_version_member_version_id FOREIGN KEY (version_id) REFERENCES version (id),
  CONSTRAINT fk_version_member_sha256 FOREIGN KEY (sha256) REFERENCES blob (sha256)
);
CREATE INDEX ix_version_member_sha256 ON version_member (sha256);

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
