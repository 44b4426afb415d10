"""`python -m tidings` is `tidings`."""

import sys

from tidings.cli.main import main

sys.exit(main())
