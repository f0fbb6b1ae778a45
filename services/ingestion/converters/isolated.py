"""Process that isolated readers run in: requests on its input, answers on its output.

A request is a line of JSON with the reader's name and the number of bytes, then those bytes. The
answer is one line of JSON: a reading, its pictures in Base64, or the reason why there is none.
"""

import base64
import contextlib
import json
import os
import sys
from typing import BinaryIO

from services.ingestion.converters import READERS, UnreadableDocumentError
from services.ingestion.converters.decode import with_plain_lines

_BY_NAME = {reader.name: reader for reader in READERS}


def main() -> None:
    """Answer requests until the input ends."""
    # A library that prints must not be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  (not on Windows)

        limit = int(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    while header := sys.stdin.buffer.readline():
        answers.write(json.dumps(_answer(header, sys.stdin.buffer)).encode() + b"\n")
        answers.flush()


def _answer(header: bytes, body: BinaryIO) -> dict[str, object]:
    request = json.loads(header)
    data = body.read(request["bytes"])
    try:
        reading = _BY_NAME[request["reader"]].read(data)
    except UnreadableDocumentError as error:
        return {"reason": str(error)}
    except MemoryError:
        return {"reason": "reading it takes more memory than allowed"}
    except RecursionError:
        return {"reason": "its elements are nested too deeply"}
    except Exception:  # noqa: BLE001  (entry point: libraries raise anything on bad files)
        return {"reason": "it is broken: open it in its program and save it anew"}
    text = with_plain_lines(reading.text)
    pictures = {name: base64.b64encode(each).decode() for name, each in reading.pictures.items()}
    return {
        "text": text,
        "title": reading.title,
        "front_matter": reading.front_matter,
        "pictures": pictures,
    }


if __name__ == "__main__":
    main()
