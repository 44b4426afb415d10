-- Public pages: the changes of an owner's sentinels with a tag, for everybody who has the address, whose last part is `token`.
CREATE TABLE published_tag (
  token TEXT NOT NULL,
  owner_id BIGINT NOT NULL,
  tag TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  CONSTRAINT pk_published_tag PRIMARY KEY (token),
  CONSTRAINT uq_published_tag_owner_id_tag UNIQUE (owner_id, tag),
  CONSTRAINT fk_published_tag_owner_id FOREIGN KEY (owner_id) REFERENCES owner (id)
);
