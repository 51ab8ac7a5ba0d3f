"""Write plimsoll/report/assets/vega.js: Vega, Vega-Lite and vega-embed, as vl-convert carries them.

It is committed, so that a page can be made where vl-convert (84 MB) is not, as in a Lambda.
"""

import sys
from pathlib import Path

import vl_convert

BUNDLE = Path(__file__).resolve().parents[1] / "plimsoll/report/assets/vega.js"
NOTICE = """/* Vega {vega}, Vega-Lite, vega-embed {embed}: (c) University of Washington Interactive
   Data Lab and contributors, BSD-3-Clause. D3: (c) Mike Bostock, ISC. From tools/vega_bundle.py. */
"""


def bundle() -> str:
    """The script, for a page to hold: it sets `window.vegaEmbed`."""
    notice = NOTICE.format(
        vega=vl_convert.get_vega_version(), embed=vl_convert.get_vega_embed_version()
    )
    script = vl_convert.javascript_bundle(vl_version="6.4")
    return f"{notice}(() => {{\n{script}\n}})();\n"


if __name__ == "__main__":
    text = bundle()
    if "</script" in text.lower():
        sys.exit("the bundle would end the element that holds it")
    BUNDLE.write_text(text)
