"""What a person does with a report: rows with their answers, new rows, the rows behind a finding."""
