"""How the HTML looks: one sheet, nothing from elsewhere, light and dark, from 320 pixels on (detection §3.3).

Blue underlined with `+` came, orange struck out with `-` went: both pairs can be told apart by who does not see red or green.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Final

STYLE: Final = r"""
:root{color-scheme:light dark}
body{margin:0;padding:20px 16px;background:#fff;color:#1f2328;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:44em;margin:0 auto}
h1{font-size:22px;line-height:1.3;margin:0 0 12px}
h2{font-size:18px;line-height:1.3;margin:0 0 4px}
h1,h2,p,li{overflow-wrap:anywhere;word-break:break-word}
article{margin:0 0 24px;padding:0 0 16px;border-bottom:1px solid #d1d9e0}
p{margin:0 0 12px}
.where,footer{color:#59636e;font-size:14px}
a{color:#0550ae}
a:focus-visible{outline:2px solid;outline-offset:2px}
ul{list-style:none;margin:0;padding:0}
li{margin:0 0 8px}
del,ins,.moved{padding:2px 5px;border-radius:4px;-webkit-box-decoration-break:clone;box-decoration-break:clone}
del{text-decoration:line-through;background:#fff1e5;color:#953800}
ins{text-decoration:underline 2px #54aeff;text-underline-offset:4px;background:#ddf4ff;color:#0a3069}
del a{color:inherit}
del,ins{position:relative;padding-inline-start:1.25em}
del::before,ins::before{position:absolute;inset-inline-start:.3em;font-weight:700}
del::before{content:"\2212";content:"\2212" / ""}
ins::before{content:"+";content:"+" / ""}
.long del,.long ins{display:block;padding-block:6px}
.long ins{margin-top:4px}
.moved{border:1px dashed}
b{white-space:nowrap}
table{width:100%;border-collapse:collapse;margin:0 0 8px}
th,td{text-align:start;vertical-align:top;padding:4px 8px;border-bottom:1px solid #d1d9e0}
td:first-child,td:nth-child(2):last-child{overflow-wrap:anywhere}
.tag{font-size:13px;color:#59636e}
.said{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(prefers-color-scheme:dark){
body{background:#0d1117;color:#e6edf3}
article,th,td{border-color:#3d444d}
.where,footer,.tag{color:#9198a1}
a{color:#79c0ff}
del{background:#3d1f00;color:#ffb77c}
ins{background:#0c2d4f;color:#cae8ff;text-decoration-color:#388bfd}
}
@media print{article{break-inside:avoid-page}}
"""

POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    + "'"
)
"""What a browser may do for such a page: apply this one sheet, nothing else."""
