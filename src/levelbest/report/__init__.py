"""Output for people: one view, rendered as text, figures, LaTeX and a page."""
