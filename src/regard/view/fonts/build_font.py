"""Make the embedded font from Noto Sans CJK (Debian: fonts-noto-cjk).

    python -m regard.view.fonts.build_font /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc

It keeps what is written in the embedded corpora, the 3,755 common characters of GB 2312, kana, and the
Latin, Greek and Cyrillic letters, punctuation and signs that the original has. Needs fontTools.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

from regard.data.byte_lines import byte_lines
from regard.view.fonts import FAMILY, FONT

SIMPLIFIED = 2  # of the faces in the collection: Japanese, Korean, simplified, traditional
COMMON = range(0xB0, 0xD8), range(0xA1, 0xFF)  # rows and columns of GB 2312, level 1
ALPHABETS = (
    range(0x20, 0x500),  # Latin, Greek, Cyrillic
    range(0x2010, 0x2028),  # dashes, quotation marks, …
    range(0x2030, 0x2600),  # money, mathematics, arrows, boxes
    range(0x3000, 0x3100),  # Chinese punctuation, kana
    range(0xFF00, 0xFFF0),  # letters and punctuation as wide as Han
)
COPYRIGHT, STYLE, VERSION, LICENCE, ADDRESS = 0, 2, 5, 13, 14  # names that are kept
NEW_NAMES = {1: FAMILY, 3: FAMILY, 4: FAMILY, 6: FAMILY.replace(" ", "")}


def wanted() -> set[str]:
    """The characters to keep, where the original has them."""
    corpora = Path(__file__).parents[2] / "data" / "corpora"
    lines = (line for path in sorted(corpora.glob("*.tsv.xz")) for line in byte_lines(path))
    written = {c for line in lines if line for c in line.decode("utf-8")}
    rows, columns = COMMON
    common = {bytes((r, c)).decode("gb2312", "ignore") for r in rows for c in columns} - {""}
    letters = {chr(code) for block in ALPHABETS for code in block}
    return {c for c in written | common | letters if c == " " or c.isprintable()}


def build(original: Path) -> None:
    font = TTFont(original, fontNumber=SIMPLIFIED, recalcTimestamp=False)
    options = subset.Options(
        hinting=False,
        layout_features=["kern"],
        name_IDs=[COPYRIGHT, STYLE, VERSION, LICENCE, ADDRESS, *NEW_NAMES],
        notdef_outline=True,
    )
    options.drop_tables += ["BASE", "VORG", "vhea", "vmtx"]  # for text that runs downwards
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(sorted(wanted())))
    subsetter.subset(font)
    for record in font["name"].names:  # its licence asks a changed font to have another name
        record.string = NEW_NAMES.get(record.nameID, record.string)
    font["CFF "].cff.fontNames = [NEW_NAMES[6]]
    font.save(FONT)
    print(f"{FONT.name}: {len(font.getBestCmap()):,} characters, {FONT.stat().st_size:,} bytes")


if __name__ == "__main__":
    build(Path(sys.argv[1]))
