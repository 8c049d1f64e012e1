from finder.index import Index
from finder.query import QueryError
from finder.search import search

__all__ = ["Index", "QueryError", "search"]
