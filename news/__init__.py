"""What is told of matches: webhooks to programs, notices to people."""
