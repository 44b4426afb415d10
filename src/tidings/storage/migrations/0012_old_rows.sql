-- Old polls, events and texts of messages are deleted. Kept are how many they were, and the newest record that the stream lacks.
ALTER TABLE page ADD COLUMN polls_deleted BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE owner ADD COLUMN events_deleted BIGINT DEFAULT 0 NOT NULL;
ALTER TABLE owner ADD COLUMN stream_deleted BIGINT DEFAULT 0 NOT NULL;
CREATE INDEX ix_delivery_body ON delivery (finished_at) WHERE status = 'delivered' AND length(body) > 0;
