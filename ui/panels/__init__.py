"""What the scene is made of: each panel is traces that change and shapes that move."""
