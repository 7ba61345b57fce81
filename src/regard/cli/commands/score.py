"""`regard score`: how probable a model finds given translations."""

from __future__ import annotations

import json

from regard.cli.options import Device, Int8, Json, Output, Run
from regard.cli.pairs import Source, Target


def score(
    source: Source = None,
    target: Target = None,
    model: Run = None,
    as_json: Json = False,
    output: Output = None,
    device: Device = None,
    int8: Int8 = False,
) -> None:
    """Print the score of each TARGET line for its SOURCE line.

    It is the score that 'translate' reports; --json has its log-probabilities too.

    Example: regard score -m runs/zh-en in.zh out.en

    Example: paste in.zh out.en | regard score -m runs/zh-en
    """
    from regard.cli.pairs import line_pairs
    from regard.cli.ready_run import ready_run
    from regard.cli.streams import written_to

    translator = ready_run(model, device=device, int8=int8)
    with written_to(output) as out:
        for sources, targets in line_pairs(source, target):
            for one in translator.score(sources, targets):
                record = json.dumps(one.to_dict(), ensure_ascii=False)
                out.write(f"{record}\n" if as_json else f"{one.score:.4f}\n")
            out.flush()
