"""Pictures as files hold them."""

import io

from PIL import Image


def picture(form: str = "PNG", size: tuple[int, int] = (3, 2), color: str = "red", **how) -> bytes:
    """The bytes of a picture of one colour."""
    out = io.BytesIO()
    mode = "RGBA" if how.pop("is_clear", False) else "RGB"
    Image.new(mode, size, color).save(out, form, **how)
    return out.getvalue()
