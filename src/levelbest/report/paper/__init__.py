"""What goes into a paper: tables, the methods paragraph, the checklist."""
