"""Without compilation (`.ci/kernels`), what only numba's compiler knows is given by plain Python."""

import os

if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    from numba.cpython.unsafe import tuple as unsafe

    unsafe.tuple_setitem = lambda values, i, value: (*values[:i], value, *values[i + 1 :])
