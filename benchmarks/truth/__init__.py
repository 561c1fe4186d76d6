"""Real tables with facts that are published or plain to see, and how many of them a report tells."""
