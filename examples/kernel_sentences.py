"""Strings and trees compared: what two sentences have in common."""

from latently.kernel import NGramKernel, SubsequenceKernel, TreeKernel

sentences = ["science is organized knowledge", "wisdom is organized life", "the cat sat on the mat"]
for kernel in (NGramKernel(3, normalize=True), SubsequenceKernel(3, decay=0.5, normalize=True)):
    print(kernel)
    print(kernel(sentences).round(3))

trees = [
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "(S (NP (D the) (N dog)) (VP (V sat)))",
    "(S (NP (D a) (N dog)) (VP (V barked) (ADV loudly)))",
]
print(TreeKernel(decay=0.5, normalize=True)(trees).round(3))
