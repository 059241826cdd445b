"""`python -m seer_otel` is `seer-otel`."""

import sys

from seer_otel.cli import main

sys.exit(main())
