-- What a process tells the others that share the database, as JSON.
ALTER TABLE lease ADD COLUMN note TEXT DEFAULT '' NOT NULL;

-- The order in which states of rules were stored, and the last number: a planner reads those that are new.
ALTER TABLE rule_state ADD COLUMN changed BIGINT DEFAULT 0 NOT NULL;
CREATE INDEX ix_rule_state_changed ON rule_state (changed);
ALTER TABLE owner ADD COLUMN states_stored BIGINT DEFAULT 0 NOT NULL;
