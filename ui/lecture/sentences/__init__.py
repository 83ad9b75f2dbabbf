"""What the lecture says beside its picture."""
