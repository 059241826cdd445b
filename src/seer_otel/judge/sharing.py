"""Answers that several want at the same time are looked for once."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class Sharing(Generic[_T]):
    """Answers that are being looked for, by what was asked."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Task[_T]] = {}

    async def answer(
        self, key: Hashable, find: Callable[[], Coroutine[Any, Any, _T]]
    ) -> tuple[_T, bool]:
        """
        Return an answer, and whether another had asked for it already.

        An error goes to all who wait. Cancelling one who waits does not end the search.
        """
        task = self._under_way.get(key)
        if task is not None:
            return await asyncio.shield(task), True
        task = asyncio.create_task(find())
        self._under_way[key] = task
        task.add_done_callback(lambda done: self._landed(key, done))
        return await asyncio.shield(task), False

    async def aclose(self) -> None:
        """End what is under way."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _landed(self, key: Hashable, task: asyncio.Task[_T]) -> None:
        del self._under_way[key]
        if not task.cancelled():
            task.exception()  # whoever waited has it; if nobody did, it is not worth a complaint
