"""What the columns of a table are: records, codes, inference, and the way to floats and back."""
