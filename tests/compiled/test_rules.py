"""The rules of compiled code, kept by walking the syntax trees of the files.

numba caches a function by its own file: a callee or a constant from files or Dask would go stale after an
upgrade. Signatures compile at import, functions as arguments defeat the cache, `parallel` costs seconds.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import latently

SOURCE = Path(latently.__file__).parent
KERNELS = sorted(path for path in (SOURCE / "compiled").rglob("*.py") if not path.name.startswith("_"))
LISTENER = SOURCE / "compiled" / "_patience.py"
OTHERS = sorted(path for path in SOURCE.rglob("*.py") if path not in (*KERNELS, LISTENER))
MODULES = {"math", "numba", "numpy"}
LOADER = "latently.compiled._lazy"  # imports kernels when they are first asked for


def broken_rules(text: str) -> list[str]:
    """Every breach of the rules in the text of a kernel file, with its line."""
    tree = ast.parse(text)
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    found = [fault for node in tree.body for fault in at_module_level(node)]
    for node in ast.walk(tree):
        found += [*imports(node), *settings(node), *function_values(node, names)]
        if isinstance(node, ast.FunctionDef):
            found += [*decoration(node), *called_arguments(node), *nested(node)]
    return found


def fault(node: ast.AST, text: str) -> list[str]:
    return [f"line {node.lineno}: {text}"]


def at_module_level(node):
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if is_docstring or isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef):
        return []
    if isinstance(node, ast.Assign | ast.AnnAssign) and is_constant(node.value):
        return []
    return fault(node, f"only functions and constants stand at module level, not {type(node).__name__}")


def is_constant(value):
    """Literals and arithmetic on them, with the functions and numbers of math and numpy."""
    allowed = ast.Constant | ast.Tuple | ast.List | ast.BinOp | ast.UnaryOp | ast.Attribute | ast.Call | ast.Name
    passive = ast.operator | ast.unaryop | ast.expr_context | ast.keyword
    for node in ast.walk(value) if value is not None else [ast.Pass()]:
        if not isinstance(node, allowed | passive):
            return False
        if isinstance(node, ast.Name) and node.id not in ("math", "np"):
            return False
    return True


def imports(node):
    if isinstance(node, ast.Import):
        roots = {alias.name.split(".")[0] for alias in node.names}
    elif isinstance(node, ast.ImportFrom):
        roots = {(node.module or ".").split(".")[0] if not node.level else "."}
    else:
        return []
    return fault(node, f"imports {sorted(roots - MODULES)}") if roots - MODULES else []


def settings(node):
    touched = isinstance(node, ast.Attribute) and node.attr == "config"
    imported = isinstance(node, ast.ImportFrom) and node.module == "numba" and "config" in names_of(node)
    return fault(node, "touches numba.config") if touched or imported else []


def names_of(node):
    return {alias.name for alias in node.names}


def decoration(node):
    if len(node.decorator_list) != 1:
        return fault(node, f"{node.name} needs the one decorator njit(nogil=True, cache=True)")
    mark = node.decorator_list[0]
    if not isinstance(mark, ast.Call) or ast.unparse(mark.func) not in ("njit", "numba.njit"):
        return fault(node, f"{node.name} needs the one decorator njit(nogil=True, cache=True)")
    options = {option.arg: ast.unparse(option.value) for option in mark.keywords}
    found = [] if not mark.args and "signature_or_function" not in options else fault(node, "explicit signature")
    if "parallel" in options:
        found += fault(node, "parallel")
    if None in options or options.get("nogil") != "True" or options.get("cache") != "True":
        found += fault(node, f"{node.name} needs nogil=True and cache=True, written out")
    return found


def function_values(node, names):
    if isinstance(node, ast.Lambda):
        return fault(node, "a lambda")
    if not isinstance(node, ast.Call):
        return []
    given = [*node.args, *(option.value for option in node.keywords)]
    passed = [value.id for value in given if isinstance(value, ast.Name) and value.id in names]
    return fault(node, f"passes the function {passed[0]} as an argument") if passed else []


def called_arguments(node):
    arguments = {a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
    calls = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    called = [f.id for f in calls if isinstance(f, ast.Name) and f.id in arguments]
    return fault(node, f"{node.name} calls its argument {called[0]}") if called else []


def nested(node):
    inner = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.ClassDef) and n is not node]
    return fault(inner[0], "a function inside a function") if inner else []


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_a_kernel_file_keeps_the_rules(path):
    assert broken_rules(path.read_text(encoding="utf-8")) == []


HEAD = "import math\nimport numpy as np\nfrom numba import njit\n"
GOOD = HEAD + (
    "LOG_2PI = math.log(2 * np.pi)\n"
    "@njit(nogil=True, cache=True, fastmath={'contract'})\n"
    "def inner(x):\n    return x + LOG_2PI\n"
    "@njit(nogil=True, cache=True)\n"
    "def outer(X, out):\n"
    "    for i in range(len(X)):\n        out[i] = inner(X[i]) + np.sum(X)\n"
)
MARK = "@njit(nogil=True, cache=True)\n"
BROKEN = {
    "another file of ours": ("from latently.compiled import gaussian\n", "imports ['latently']"),
    "a sibling": ("from . import gaussian\n", "imports ['.']"),
    "another package": ("import scipy.special\n", "imports ['scipy']"),
    "an import inside": (MARK + "def f(x):\n    import os\n    return x\n", "imports ['os']"),
    "no decorator": ("def f(x):\n    return x\n", "needs the one decorator"),
    "a bare decorator": ("@njit\ndef f(x):\n    return x\n", "needs the one decorator"),
    "another decorator": ("@np.vectorize(cache=True)\ndef f(x):\n    return x\n", "needs the one decorator"),
    "two decorators": (MARK + MARK + "def f(x):\n    return x\n", "needs the one decorator"),
    "no nogil": ("@njit(cache=True)\ndef f(x):\n    return x\n", "needs nogil=True and cache=True"),
    "no cache": ("@njit(nogil=True, cache=False)\ndef f(x):\n    return x\n", "needs nogil=True"),
    "hidden options": ("@njit(nogil=True, cache=True, **MORE)\ndef f(x):\n    return x\n", "written out"),
    "parallel": ("@njit(nogil=True, cache=True, parallel=True)\ndef f(x):\n    return x\n", "parallel"),
    "parallel off": ("@njit(nogil=True, cache=True, parallel=False)\ndef f(x):\n    return x\n", "parallel"),
    "a signature": ("@njit('f8(f8)', nogil=True, cache=True)\ndef f(x):\n    return x\n", "signature"),
    "a function passed": (MARK + "def f(x):\n    return np.apply(inner, x)\n", "passes the function inner"),
    "a function passed by name": (
        MARK + "def f(x):\n    return np.apply(x, by=inner)\n",
        "passes the function",
    ),
    "a function received": (MARK + "def f(g, x):\n    return g(x)\n", "f calls its argument g"),
    "a lambda": (MARK + "def f(x):\n    g = lambda y: y\n    return g(x)\n", "a lambda"),
    "a closure": (
        MARK + "def f(x):\n    def g(y):\n        return y\n    return g(x)\n",
        "inside a function",
    ),
    "numba.config": ("import numba\nnumba.config.THREADING_LAYER = 'omp'\n", "touches numba.config"),
    "config imported": ("from numba import config\n", "touches numba.config"),
    "a class": ("class A:\n    pass\n", "not ClassDef"),
    "a statement": ("if True:\n    A = 1\n", "not If"),
    "a call": ("print(1)\n", "not Expr"),
    "a constant of a file": ("A = open('a').read()\n", "not Assign"),
    "a computed constant": ("A = inner(1.0)\n", "not Assign"),
}


def test_the_rules_allow_what_is_allowed():
    assert broken_rules(GOOD) == []


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_each_broken_rule_is_caught(text, message):
    assert any(message in found for found in broken_rules(GOOD + text))


def numba_users(text: str) -> list[str]:
    """Lines outside the room that use numba, or that load a kernel before it is needed."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "", *(f"{node.module}.{name}" for name in names_of(node))]
        else:
            continue
        eager = isinstance(node, ast.Import) or node.module != "latently"
        kernels = [
            m for m in modules if m.startswith("latently.compiled.") and m != LOADER and not m.startswith(f"{LOADER}.")
        ]
        if any(m.split(".")[0] == "numba" for m in modules) or (eager and kernels):
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_is_compiled_elsewhere(path):
    assert numba_users(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "import numba",
        "from numba import njit",
        "import numba.core",
        "def f():\n    import numba",
        "from latently.compiled import kmeans",
        "from latently.compiled.kmeans.lloyd import assign",
        "import latently.compiled.kmeans.lloyd",
    ],
)
def test_compiling_elsewhere_is_caught(line):
    assert numba_users(line)


def test_kernels_are_reached_through_the_room():
    assert numba_users("from latently import compiled\nimport latently\nimport numpy") == []


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_kernel_file_is_reached_through_its_folders(path):
    module = latently.compiled
    for part in path.relative_to(SOURCE / "compiled").with_suffix("").parts:
        module = getattr(module, part)
    assert Path(module.__file__) == path


def test_an_unknown_kernel_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        _ = latently.compiled.nothing


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*(name for name in sys.modules if '.' not in name))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(run.stdout.split())


def test_importing_latently_loads_neither_sklearn_nor_numba():
    heavy = {
        "numba",
        "sklearn",
        "scipy",
        "numpy",
        "pandas",
        "polars",
        "narwhals",
        "torch",
        "rich",
        "safetensors",
    }
    assert loaded_by("import latently") & heavy == set()


@pytest.mark.parametrize("package", sorted(path.parent.name for path in SOURCE.glob("*/__init__.py")))
def test_importing_a_package_does_not_load_numba(package):
    assert loaded_by(f"import latently.{package}") & {"numba", "llvmlite"} == set()
