"""Networks: perceptrons, convolutions with residual and skip connections, graph convolutions."""
