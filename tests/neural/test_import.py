"""PyTorch is optional: nothing but the package imports it, and without it there is one clear error."""

import subprocess
import sys


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_latently_alone_does_not_import_torch():
    code = "import sys, latently, latently.cluster, latently.predict, latently.persist; print('torch' in sys.modules)"
    assert run(code) == (0, "False\n")


def test_without_torch_the_error_says_what_to_install():
    code = """
import importlib.util, sys
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "torch" else real(name, *more)
try:
    import latently.neural
except ModuleNotFoundError as problem:
    print(problem, problem.name)
from latently.checks import all_estimators
print(any(name == "Autoencoder" for name, _ in all_estimators()))
"""
    done, told = run(code)
    assert done == 0, told
    assert "pip install 'latently[neural]'" in told
    assert told.split()[-2:] == ["torch", "False"]
