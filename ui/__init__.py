"""What Tilewise shows: figures from data, and the pages that compose them."""
