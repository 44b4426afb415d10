-- In which time zone somebody reads times; empty: in that of the browser.
ALTER TABLE owner ADD COLUMN zone TEXT DEFAULT '' NOT NULL;
