"""The embedded verses of the Tang, from the files of tang-poems:

    python -m regard.data.corpora.build_tang FOLDER

All quatrains with their titles; of the couplets of the training part one in six, told by its place, and all
of dev and test.
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path

HERE = Path(__file__).parent
STEPS = {
    "couplets": {"train": 6, "dev": 1, "test": 1},
    "quatrains": dict.fromkeys(("train", "dev", "test"), 1),
}


def main(folder: Path) -> None:
    for kind, steps in STEPS.items():
        home = HERE / f"tang-{kind}"
        home.mkdir(exist_ok=True)
        for part, step in steps.items():
            whole = lzma.decompress((folder / f"{kind}.{part}.tsv.xz").read_bytes())
            lines = whole.decode().splitlines(keepends=True)
            data = "".join(lines[::step]).encode()
            packed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
            target = home / f"tang-{kind}.{part}.tsv.xz"
            target.write_bytes(packed)
            print(f"{target.name}: {len(lines[::step]):,} lines, {len(packed):,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
