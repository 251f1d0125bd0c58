"""Back where people look: trials and curves written to MLflow and W&B."""
