"""What `make bench` measures: ratios to a floor in the same run, never times alone."""
