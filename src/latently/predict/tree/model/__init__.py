"""What a tree is: nodes, answers, rules."""
