"""Configuration trees: files that inherit from one another, and values that refer to one another."""
