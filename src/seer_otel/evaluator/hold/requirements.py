"""The requirements of queries, remembered on disk."""

from seer_otel.evaluator.hold.store import Store


class StoredRequirements:
    """A memory of requirements that outlives the process."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, query: str, judge: str) -> tuple[str, ...] | None:
        """Return what the judge once listed for the query; None: nothing yet."""
        return await self._store.get_requirements(query, judge)

    async def put(self, query: str, judge: str, requirements: tuple[str, ...]) -> None:
        """Remember what the judge lists for the query."""
        await self._store.put_requirements(query, judge, requirements)
