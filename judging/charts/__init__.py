"""Geometry of the pictures. Positions are in per cent, so that text keeps its size; colours
are classes. Every number that a picture shows stands in a table beside it."""
