-- What is done in the browser before a page is read.
ALTER TABLE page ADD COLUMN steps TEXT DEFAULT '' NOT NULL;
