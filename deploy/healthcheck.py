"""Exit status 0 when the service in this container is ready to work."""

import os
import sys
import urllib.error
import urllib.request

URL = f"http://127.0.0.1:{os.environ.get('FLOWXPERT_PORT', '8080')}/readyz"

try:
    with urllib.request.urlopen(URL, timeout=2):
        sys.exit(0)
except (urllib.error.URLError, TimeoutError) as error:
    sys.exit(f"{URL}: {error}")
