"""Programs that other people made."""

STORIES = {}
