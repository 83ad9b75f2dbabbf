"""The kinds of requirements: each class has its data, its goal as a sentence, and its judging."""
