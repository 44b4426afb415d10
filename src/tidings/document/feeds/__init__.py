"""Feeds and sitemaps: their entries, dates and hubs, in every form that is in use. The job on a sitemap is named here, and run where content is read."""
