"""The pages of adjudication: a module a page."""
