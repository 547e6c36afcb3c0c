"""Everything that learns, searches or is rated; it needs torch and lives in the checkout only."""
