"""A page about a fan, and a reading of it that asks about heat where the page asks about a tray."""

from typing import Any

from services.knowledge.screening.document import hash_of

PAGE = """# Fan stands still

1. Look at the tray.
2. If the tray is loose, seat the fan with `fan seat fan-1`.
3. Note the serial number.
"""
HASH = hash_of(PAGE)
FAN: dict[str, Any] = {
    "title": "Fan stands still",
    "at": [[1, 5]],
    "steps": [
        {"id": "n1", "do": "Look at the tray", "at": [[3, 3]]},
        {
            "id": "n2",
            "choice": "exclusive",
            "at": [[4, 4]],
            "arms": [
                {
                    "id": "n3",
                    "when": "Is the tray hot?",
                    "at": [[4, 4]],
                    "steps": [
                        {
                            "id": "n4",
                            "do": "Seat the fan",
                            "at": [[4, 4]],
                            "commands": ["fan seat fan-1"],
                            "core": True,
                        }
                    ],
                }
            ],
        },
        {"id": "n5", "do": "Note the serial number", "at": [[5, 5]]},
    ],
}
