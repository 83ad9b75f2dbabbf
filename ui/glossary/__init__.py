"""The glossary: words with their definitions and small scenes, explained where they are."""
