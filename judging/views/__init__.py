"""What competitors read: one file a page."""
