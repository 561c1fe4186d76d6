"""What is worth knowing of a table: the record of one finding, and the searches that make them."""
