"""Writing trials and curves to MLflow and W&B."""
