"""Documents: from bytes to words, links and images; shared by the sciences, which do not see each other."""
