"""A server of our own that speaks as the vendors of models do, and fails as they do."""
