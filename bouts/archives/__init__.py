"""Archives and folders from strangers as streams of members, within bounds. No Django in here."""
