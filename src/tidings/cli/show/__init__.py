"""The verbs that only show: sentinels, versions, deliveries, plans, settings and health. One module a verb or a family of verbs. Nothing here fetches."""
