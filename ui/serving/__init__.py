"""The server beside its pages: what it needs at its start, which hosts it answers, its log."""
