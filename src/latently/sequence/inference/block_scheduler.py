"""What is to be done with the blocks of a long sequence, handed out to whoever is free.

One walk goes forward from the first block, another backward from the last one, each in order. They meet wherever they
meet, and go on through what the other has prepared. Filling a block with densities, and taking its posteriors when both
have been through it, is done on the way by who walks there, unless somebody has nothing else to do.
"""

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from latently.sequence.inference.chain import Array
from latently.sequence.inference.threads import n_workers, side_by_side

FORWARD, BACKWARD = 1, -1


class Todo(NamedTuple):
    """What is to be done with a block, in this order."""

    fill: bool = False
    forward: bool = False
    backward: bool = False
    finish: bool = False

    @property
    def uses_up(self) -> bool:
        """Whether what the walk leaves is used up at once: it need not be kept."""
        return self.finish and (self.forward or self.backward)


class Workspace:
    """Memory of one shape for what is used up at once, as much of it as there are threads at a time."""

    def __init__(self, *shape: int) -> None:
        self._shape, self._free = shape, list[Array]()

    def borrow(self) -> Array:
        """Give memory that nobody uses."""
        try:
            return self._free.pop()
        except IndexError:
            return np.empty(self._shape)

    def give_back(self, memory: Array) -> None:
        """Keep memory for the next one who asks."""
        self._free.append(memory)


Step = Callable[[int, Todo], None]


class BlockScheduler:
    """The state of each block, and of both walks.

    Parameters
    ----------
    n
        Number of blocks.
    """

    def __init__(self, n: int) -> None:
        self._next = {FORWARD: 0, BACKWARD: n - 1}
        self._walked = {FORWARD: [False] * n, BACKWARD: [False] * n}
        self._busy: set[int] = set()  # walks that somebody is on
        self._empty, self._filling = set(range(n)), set[int]()
        self._unfinished, self._met = set(range(n)), list[int]()
        self._idle, self._changed = 0, threading.Condition(threading.Lock())

    def work(self, step: Step) -> None:
        """Do whatever there is to do, until all is done or has been taken by others."""
        way = FORWARD
        while (task := self.take(way)) is not None:
            block, todo = task
            try:
                step(block, todo)
            except BaseException:
                self.give_up()
                raise
            self.done(block, todo)
            if todo.forward or todo.backward:
                way = FORWARD if todo.forward else BACKWARD

    def take(self, way: int) -> tuple[int, Todo] | None:
        """Take the next thing to do, if possible on this way; waits for one; None if there will be none."""
        with self._changed:
            while self._unfinished:
                if (found := self.look(way)) is not None:
                    return found
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            return None

    def look(self, way: int) -> tuple[int, Todo] | None:
        """Take something that can be done now, if there is anything."""
        return self._walk(way) or self._walk(-way) or self._beside_the_walks()

    def done(self, block: int, todo: Todo) -> None:
        """Tell that what was taken is done."""
        with self._changed:
            self._filling.discard(block)
            for way, walked in ((FORWARD, todo.forward), (BACKWARD, todo.backward)):
                if walked:
                    self._busy.discard(way)
                    self._walked[way][block] = True
                    if self._walked[-way][block] and not todo.finish:
                        self._met.append(block)
            self._changed.notify_all()

    def give_up(self) -> None:
        """Have nothing more to do: something has failed."""
        with self._changed:
            self._unfinished.clear()
            self._changed.notify_all()

    def _walk(self, way: int) -> tuple[int, Todo] | None:
        block = self._next[way]
        if way in self._busy or block in self._filling or not 0 <= block < len(self._walked[way]):
            return None
        fill, finish = block in self._empty, self._walked[-way][block] and self._idle == 0
        self._busy.add(way)
        self._next[way] += way
        self._note(block, fill, finish)
        return block, Todo(fill, way == FORWARD, way == BACKWARD, finish)

    def _beside_the_walks(self) -> tuple[int, Todo] | None:
        if self._met:
            block = self._met.pop()
            self._note(block, fill=False, finish=True)
            return block, Todo(finish=True)
        if self._empty:
            block = sorted(self._empty)[len(self._empty) // 2]  # as far from both walks as can be
            self._note(block, fill=True, finish=False)
            return block, Todo(fill=True)
        return None

    def _note(self, block: int, fill: bool, finish: bool) -> None:
        if fill:
            self._empty.discard(block)
            self._filling.add(block)
        if finish:
            self._unfinished.discard(block)


def work_through(n: int, step: Step) -> None:
    """Walk both ways through n blocks, beside as many threads as are allowed."""
    scheduler, workers = BlockScheduler(n), n_workers(n + 1)
    side_by_side(lambda _: scheduler.work(step), range(workers))
