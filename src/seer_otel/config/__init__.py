"""
What the evaluator is told: one YAML file < environment < flags.

Every setting is declared once; unknown keys are errors, and every message names the place that is
to be mended. `OTEL_*` variables are honoured where OpenTelemetry has them.
"""

from seer_otel.config.settings import Config, Forward, JudgeConfig
from seer_otel.config.sources import ENVIRONMENT, FLAGS, load

__all__ = ["ENVIRONMENT", "FLAGS", "Config", "Forward", "JudgeConfig", "load"]
