"""The tools inside the frameworks people already use: one module each, which imports its framework and no other."""
