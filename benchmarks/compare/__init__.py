"""Us beside our peers: same data, same start, one process, interleaved, best of several, equal objective."""
