"""What hidden states emit: K distributions side by side."""
