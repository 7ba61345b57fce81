"""What other packages bring: used by name, and harmless where it is broken."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

import regard
from regard import plugins
from regard.attention import attend
from regard.attention.mechanism_text import written_normalizer, written_score
from regard.attention.recording import recording
from regard.attention.regions import as_region
from regard.attention.scores import as_score
from regard.recipe.mistakes import MissingKind, RecipeError
from regard.recipe.recipe_files import read_recipe

MODULE = """
    import math
    import torch
    from regard.attention.normalizers import Normalizer
    from regard.attention.regions import Mask
    from regard.attention.scores import Dot, Score

    class Power(Score):
        '''score(q, k) = -|q - k|^p, by positions that a rearranged key would lose'''
        def __init__(self, power: int = 2, *, shift: float = 0.0):
            super().__init__()
            self.power, self.shift = power, shift
        def pair(self, query, key):
            apart = (query[..., :, None, :] - key[..., None, :, :]).abs() ** self.power
            near = torch.arange(query.shape[-2])[:, None] == torch.arange(key.shape[-2])
            return self.shift * near - apart.sum(-1)

    class Louder(Dot):
        '''score(q, k) = 3 q · k, and says nothing of what its parent says of itself'''
        def pair(self, query, key):
            return 3 * super().pair(query, key)

    class Parity(Mask):
        '''j of the same parity as i'''
        def mask(self, queries, keys, *, lengths=None, device=None):
            i, j = torch.arange(queries, device=device), torch.arange(keys, device=device)
            return (i[:, None] - j) % 2 == 0

    class Falling(Normalizer):
        '''weights = the softmax, times 1, 1/2, 1/3, ... in the order of the allowed keys'''
        def __init__(self, rate: float = 1.0):
            self.rate = rate
        def __call__(self, scores, allowed=None, *, training=False, generator=None):
            allowed = torch.ones_like(scores, dtype=torch.bool) if allowed is None else allowed
            allowed = allowed.expand(scores.shape)
            weights = scores.masked_fill(~allowed, -math.inf).softmax(-1).nan_to_num()
            return weights / allowed.cumsum(-1).clamp(min=1) ** self.rate, None
"""
POINTS = """
    [regard.scores]
    power = strange_parts:Power
    louder = strange_parts:Louder
    dot = strange_parts:Louder
    broken = strange_and_missing:Nothing
    no-score = strange_parts:Parity

    [regard.regions]
    parity = strange_parts:Parity

    [regard.normalizers]
    falling = strange_parts:Falling
"""


def install(folder: Path, name: str, points: str) -> None:
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(textwrap.dedent(points))


@pytest.fixture
def strangers(tmp_path, monkeypatch):
    (tmp_path / "strange_parts.py").write_text(textwrap.dedent(MODULE))
    install(tmp_path, "strange-parts", POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.forget()
    yield tmp_path
    plugins.forget()
    sys.modules.pop("strange_parts", None)
    attend._READ.clear()


pytestmark = pytest.mark.filterwarnings("ignore:strange-parts. regard.scores 'dot'")


def test_names_are_known_without_an_import(strangers):
    assert plugins.names("regard.scores") == ("broken", "dot", "louder", "no-score", "power")
    assert plugins.names("regard.tasks") == ()
    assert "strange_parts" not in sys.modules


def test_a_score_is_used_by_name_with_its_arguments(strangers):
    q, k = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    got = regard.attend(q, k, score="power(3, shift=0.5)", weights=True).weights
    scores = -((q[:, :, None] - k[:, None]).abs() ** 3).sum(-1)
    scores = scores + 0.5 * torch.eye(3, 5)
    torch.testing.assert_close(got, scores.softmax(-1))
    assert regard.Attention(4, 4, score="Power").score.power == 2
    assert written_score(as_score("power(3)")) == "power(power=3)"
    for text, answer in (
        ("power(1, 2)", r"power\(power=2, shift=0.0\) was given 2 arguments: 1, 2"),
        ("power(shfit=1)", r"has no argument 'shfit'. Did you mean 'shift'\?"),
        (
            "powr",
            r"no score 'powr'. Did you mean 'power'\? The scores: additive, .*power, scaled-dot",
        ),
    ):
        with pytest.raises(ValueError, match=answer):
            as_score(text)


def test_a_region_composes_and_a_normaliser_is_asked_in_order(strangers):
    x = torch.randn(1, 6, 4)
    weights = regard.attend(x, x, region="parity & causal", weights=True).weights[0]
    i, j = torch.arange(6)[:, None], torch.arange(6)
    assert ((weights > 0) == (((i - j) % 2 == 0) & (j <= i))).all()
    assert repr(as_region("~parity | causal")) == "~Parity() | Causal()"
    falling = regard.attend(x, x, normalize="falling(2)", weights=True).weights
    wanted = regard.attend(x, x, weights=True).weights / (1 + j) ** 2
    torch.testing.assert_close(falling, wanted)
    made = regard.attention.normalizers.as_normalizer("falling(2)")
    assert written_normalizer(made) == "falling(rate=2)"


@pytest.mark.parametrize("region", ["everywhere", "causal", "window(3)", "atrous(4)", "sparse(8)"])
def test_what_a_stranger_does_not_say_is_not_assumed(strangers, region):
    """No fused kernel, no rearranged keys: every region gives what the definition gives."""
    x = torch.randn(1, 150, 4)
    for how in (
        {"score": "power(2, shift=3.0)"},
        {"score": "louder"},
        {"normalize": "falling"},
        {"region": f"parity & {region}"},
    ):
        how = {"region": region, **how}
        wanted = regard.attend(x, x, **how, weights=True)
        torch.testing.assert_close(wanted.context, wanted.weights @ x)
        torch.testing.assert_close(regard.attend(x, x, **how).context, wanted.context)
    loud = regard.attend(x, x, score="louder", region=region).context
    quiet = regard.attend(x, x, score="dot", normalize="softmax(0.3333333333)", region=region)
    torch.testing.assert_close(loud, quiet.context, rtol=1e-3, atol=1e-4)


def test_a_strangers_score_is_recorded_in_a_module(strangers):
    heads = regard.MultiHead(8, heads=2, score="power(2)").eval()
    with recording(heads, details=True) as recorded:
        heads(torch.randn(1, 4, 8))
    assert recorded[0].mechanism.startswith("score: power · ")
    torch.testing.assert_close(recorded[0].scores.softmax(-1), recorded[0].weights)


def test_a_broken_one_is_told_of_in_one_line_and_harms_no_other(strangers):
    message = (
        "strange-parts: regard.scores 'broken' = strange_and_missing:Nothing cannot be loaded: "
        "ModuleNotFoundError: No module named 'strange_and_missing'"
    )
    for error in (plugins.BrokenPlugin, ImportError, ValueError):
        with pytest.raises(error) as told:
            as_score("broken")
        assert str(told.value) == message
    with pytest.raises(
        plugins.BrokenPlugin, match=r"'no-score' = .* cannot be used: it is no Score"
    ):
        as_score("no-score")
    assert as_score("power").power == 2
    assert type(as_score("additive", query_size=2, key_size=2)) is regard.scores.Additive


def test_regards_own_names_win_and_it_is_said_once(strangers):
    assert type(as_score("dot")) is regard.scores.Dot
    told = r"strange-parts: regard.scores 'dot' = strange_parts:Louder is not used: 'dot' is regard's own"
    with pytest.warns(UserWarning, match=told):
        as_score("power")
    assert type(as_score("dot")) is regard.scores.Dot
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_score("louder")


def test_of_two_packages_with_one_name_the_first_is_taken(strangers):
    install(strangers, "another", "[regard.scores]\npower = elsewhere:Power\n")
    plugins.forget()
    told = "strange-parts: .* is not used: another: regard.scores 'power' = elsewhere:Power has the same"
    with pytest.warns(UserWarning, match=told):
        assert plugins.names("regard.scores").count("power") == 1
    with pytest.raises(plugins.BrokenPlugin, match=r"^another: .*No module named 'elsewhere'"):
        as_score("power")


def test_what_is_installed_is_read_once_and_not_at_import(strangers, monkeypatch):
    read = []
    real = importlib.metadata.entry_points
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda **how: read.append(how) or real(**how)
    )
    regard.attend(torch.randn(1, 2, 4), torch.randn(1, 3, 4), score="cosine", region="causal(end)")
    assert read == []
    for _ in range(3):
        as_score("power")
    assert read == [{"group": "regard.scores"}]
    code = "import sys, regard, regard.plugins; print('torch' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout == "False\n"


@pytest.mark.usefixtures("strangers")
def test_one_that_cannot_be_made_is_broken_and_the_recipe_is_told_what_to_install(monkeypatch):
    import strange_parts

    def fail(self):
        raise KeyError("lost")

    monkeypatch.setattr(strange_parts.Power, "__init__", fail)
    told = "power() of strange_parts cannot be made: KeyError: 'lost'"
    with pytest.raises(plugins.BrokenPlugin) as found:
        as_score("power")
    assert str(found.value) == told
    for score in ("power", "broken", "no-score"):
        with pytest.raises(MissingKind, match=r"^model.attention.score: ") as missing:
            read_recipe("mr", [f"model.attention.score={score}"])
        assert "pip install" in missing.value.hint
    with pytest.raises(RecipeError, match=r"no score 'powre'. Did you mean 'power'") as unknown:
        read_recipe("mr", ["model.attention.score=powre"])
    assert "regard schema" not in unknown.value.hint


@pytest.mark.usefixtures("strangers")
def test_a_class_is_named_by_its_place_without_an_entry_point():
    q, k = torch.randn(2, 6, 4), torch.randn(2, 6, 4)
    got = regard.attend(q, k, score="strange_parts:Power(3, shift=0.5)", weights=True).weights
    torch.testing.assert_close(
        got, regard.attend(q, k, score="power(3, shift=0.5)", weights=True).weights
    )
    region = as_region("~strange_parts:Parity & causal")
    assert region.mask(3, 3).tolist() == as_region("~parity & causal").mask(3, 3).tolist()
    falling = regard.attend(q, k, normalize="strange_parts:Falling(2)").context
    torch.testing.assert_close(falling, regard.attend(q, k, normalize="falling(2)").context)
    recipe = read_recipe("mr", ["model.attention.score=strange_parts:Power(3)"])
    assert recipe.model.attention.score == "strange_parts:Power(3)"
    for name, told in (
        ("strange_parts:Powr", r"strange_parts has no 'Powr'. Did you mean 'Power'\?"),
        ("strange_parts:Parity", "is no Score but"),
        ("nowhere_at_all:Power", "no module 'nowhere_at_all'"),
    ):
        with pytest.raises(plugins.BrokenPlugin, match=told):
            as_score(name)
    with pytest.raises(ValueError, match=r"^strange_parts:Louder\(.*\) has no argument 'x'"):
        as_score("strange_parts:Louder(x=1)")
    for name in ("strange_parts.Power", "strange_parts:", ":Power", "a:b:c"):
        with pytest.raises(ValueError, match="cannot read"):
            as_score(name)
