"""The one training loop: mini-batches, Adam, schedule, early stopping, checkpoints."""
