"""Ways out: a trained run as a folder that a production engine runs.

    export("runs/zh-en", "ctranslate2")                              # writes runs/zh-en/export/ctranslate2
    load_engine("runs/zh-en", "ctranslate2").translate(["我是一个学生。"])[0].text

CTranslate2 runs Transformers with its own search; ONNX is the encoder and one step of the decoder, run
by onnxruntime under the search of this package. Both come with `pip install "regard[export]"`.
"""

from __future__ import annotations

from regard.export.engines import load_engine
from regard.export.run_export import export
from regard.export.unsupported import CannotExport

__all__ = ["CannotExport", "export", "load_engine"]
