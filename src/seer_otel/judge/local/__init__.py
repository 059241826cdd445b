"""The judge that comes with the product: offline and lexical."""

from seer_otel.judge.local.judge import LocalJudge

__all__ = ["LocalJudge"]
