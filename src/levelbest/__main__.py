"""``python -m levelbest`` is the ``levelbest`` command."""

import sys

from levelbest.cli.main import main

sys.exit(main())
