"""Back where people look: trials and curves written to MLflow, W&B and Every Eval Ever."""
