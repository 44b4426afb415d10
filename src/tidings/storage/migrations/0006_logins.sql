-- How to log in by a form before a page is asked for.
ALTER TABLE page ADD COLUMN login TEXT DEFAULT '' NOT NULL;
