"""Backpropagation by hand for a network of two layers, checked against automatic differentiation.

z1 = x W1 + b1, a1 = tanh(z1), z2 = a1 W2 + b2, E = |z2 - t|^2 / 2. For a weight from neuron i to neuron j,

    dE/dw_ij = dE/da_j da_j/dz_j dz_j/dw_ij,   where dz_j/dw_ij = a_i,

and for a neuron, whose output reaches all neurons j of the next layer,

    dE/da_i = sum_j dE/da_j da_j/dz_j dz_j/da_i,   where dz_j/da_i = w_ij.

Draws neural_backpropagation.png: the error while the network is trained by these formulas alone.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch


def forward(x, W1, b1, W2, b2):
    """Activations of the hidden layer, and the output."""
    a1 = np.tanh(x @ W1 + b1)
    return a1, a1 @ W2 + b2


def backward(x, t, W1, b1, W2, b2):
    """The error, and its derivatives by W1, b1, W2 and b2, summed over the rows."""
    a1, z2 = forward(x, W1, b1, W2, b2)
    d_z2 = z2 - t  # dE/dz2: the output is linear, so da/dz = 1
    d_W2 = a1.T @ d_z2  # dE/dw_ij = dE/dz_j a_i
    d_a1 = d_z2 @ W2.T  # dE/da_i = sum_j dE/dz_j w_ij
    d_z1 = d_a1 * (1 - a1**2)  # da/dz of tanh
    d_W1 = x.T @ d_z1
    return 0.5 * ((z2 - t) ** 2).sum(), (d_W1, d_z1.sum(axis=0), d_W2, d_z2.sum(axis=0))


def by_autograd(x, t, *parameters):
    """The same derivatives, by PyTorch."""
    W1, b1, W2, b2 = tensors = [torch.tensor(p, requires_grad=True) for p in parameters]
    output = torch.tanh(torch.from_numpy(x) @ W1 + b1) @ W2 + b2
    (0.5 * (output - torch.from_numpy(t)).square().sum()).backward()
    return [tensor.grad.numpy() for tensor in tensors]


def start(rng, n_in=1, n_hidden=12, n_out=1):
    """Random weights."""
    W1, W2 = rng.normal(size=(n_in, n_hidden)), rng.normal(size=(n_hidden, n_out)) / np.sqrt(n_hidden)
    return [W1, rng.normal(size=n_hidden), W2, np.zeros(n_out)]


def test_by_hand_equals_autograd():
    rng = np.random.default_rng(1)
    for shape in ((1, 3, 1), (4, 7, 3)):
        x, t, parameters = rng.normal(size=(9, shape[0])), rng.normal(size=(9, shape[2])), start(rng, *shape)
        for hand, auto in zip(backward(x, t, *parameters)[1], by_autograd(x, t, *parameters), strict=True):
            np.testing.assert_allclose(hand, auto, rtol=1e-10, atol=1e-12)


def main() -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(-3, 3, 100)[:, None]
    t = np.sin(2 * x)
    parameters = start(rng)
    largest = max(
        np.abs(hand - auto).max()
        for hand, auto in zip(backward(x, t, *parameters)[1], by_autograd(x, t, *parameters), strict=True)
    )
    print(f"largest difference between the formulas and autograd: {largest:.1e}")
    errors = []
    for _ in range(3000):
        error, gradients = backward(x, t, *parameters)
        parameters = [p - 0.002 * g for p, g in zip(parameters, gradients, strict=True)]
        errors.append(error)
    print(f"squared error, before and after 3000 steps by hand: {errors[0]:.1f}, {errors[-1]:.3f}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    left.semilogy(errors)
    left.set(xlabel="step", ylabel="error")
    right.plot(x, t, label="target")
    right.plot(x, forward(x, *parameters)[1], label="network")
    right.legend()
    figure.savefig("neural_backpropagation.png")


if __name__ == "__main__":
    main()
