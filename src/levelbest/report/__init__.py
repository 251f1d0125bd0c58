"""What people see: one view, drawn as text, figures, LaTeX and a page."""
