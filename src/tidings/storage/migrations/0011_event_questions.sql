-- Questions about events of a type, or about the first version of a page, read no others.
CREATE INDEX ix_event_type ON event (type, seq);
CREATE INDEX ix_event_first ON event (page_id) WHERE type = 'page.first';
