"""Views for frameworks of others; each imports its framework, so nothing imports them from here."""
