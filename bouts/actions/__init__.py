"""What gets written, and when: one transaction and one audit entry each."""
