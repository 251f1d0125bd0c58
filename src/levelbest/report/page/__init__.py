"""The page: one HTML file, and what a notebook shows."""
