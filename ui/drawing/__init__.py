"""What pictures are made of: colours, shapes, sheets, what a pointer hits, what moves."""
