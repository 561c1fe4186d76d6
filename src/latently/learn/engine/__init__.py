"""The loop, its reductions over chunks, threads, starts and stops."""
