-- Dead letters are found without reading all messages.
CREATE INDEX ix_delivery_dead ON delivery (created_at) WHERE status = 'dead';
