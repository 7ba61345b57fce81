"""The report shows what it is given, escapes every text, and needs nothing but itself."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser

import pytest

from regard.data.problems import Problems
from regard.measures import Bucket, LengthCurve, LengthRow, MeasuredScore
from regard.report.report_page import Report, render, stylesheet
from regard.tasks.report_part import Drawing, NextStep
from regard.view import bundle
from regard.view.charts.length_chart import length_section
from regard.view.heat_table import STEPS, heat_stylesheet, heat_table
from regard.view.markup import Markup, element
from regard.view.page_palette import palette
from regard.view.samples import Sample
from regard.view.stills.paper import THEMES

VOID = {"meta", "br"}
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
CURVE = LengthCurve((LengthRow(Bucket(1, 10), 412, 5.5, 29.24, 58.9, 1.01),), "words", SIGNATURE)


def lengths(curves: Mapping[str, LengthCurve]) -> Drawing:
    return Drawing("Short and long sentences", length_section(curves))


REPORT = Report(
    title="zh-en on Tatoeba",
    verdict="It translates.",
    scores=(MeasuredScore("BLEU", 15.324, SIGNATURE),),
    facts={"seed": "1", "parameters": "4,912,128"},
    command="regard train zh-en",
    recipe="model:\n  kind: rnnsearch\n",
    metrics=[
        {"step": 100, "train_loss": 4.25},
        {"step": 100, "dev_loss": 4.5, "dev_bleu": 3.875},
        {"step": 200, "dev_loss": 4.0, "dev_bleu": 5.125},
    ],
    drawings=(lengths({"rnnsearch": CURVE}),),
    samples=(
        Sample(
            source="我是学生。",
            hypothesis="I am a student.",
            reference="I'm a student.",
            scores={"chrF": 71.25, "log p": -0.5},
            source_tokens=["我", "是", "学生。"],
            tokens=["I", "am"],
            attention=[[0.75, 0.25, 0.0], [0.004, 0.996, 0.0]],
        ),
    ),
    problems=Problems.from_json({"train.zh": {"empty lines": [1234, 17, 9001]}}),
    next_steps=(NextStep("regard translate -m runs/demo", "Try your own sentence."),),
    source_language="zh",
    target_language="en",
)


class Page(HTMLParser):
    """What a browser would see; fails on an element that is not closed where it should be."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def titles(self) -> list[str]:
        return [attributes["title"] for _, attributes in self.tags if "title" in attributes]


def spoilt(value, evil: str):
    """The same data with `evil` at the end of every text in it."""
    if isinstance(value, Markup):
        return lengths({f"rnnsearch{evil}": CURVE, evil: CURVE}).body
    if isinstance(value, Drawing):  # before the tuple that it is
        return Drawing(value.title + evil, spoilt(value.body, evil))
    if isinstance(value, NextStep):
        return NextStep(value.command + evil, value.why + evil)
    if isinstance(value, str):
        return value + evil if value else value  # what is not there stays so
    if isinstance(value, Problems):
        return Problems.from_json(spoilt(value.to_json(), evil))
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(
            value,
            **{f.name: spoilt(getattr(value, f.name), evil) for f in dataclasses.fields(value)},
        )
    if isinstance(value, Mapping):
        return {k if k == "step" else k + evil: spoilt(v, evil) for k, v in value.items()}
    return [spoilt(v, evil) for v in value] if isinstance(value, Sequence) else value


@pytest.mark.parametrize(
    "evil",
    [
        "<img src=x onerror=alert(1)>",
        "</style></title></pre><script>alert(1)</script>",
        "\" onmouseover='alert(1)' x=\"",
        "]]><!-- &lt; ",
    ],
)
def test_no_text_becomes_markup(evil):
    page, clean = Page(render(spoilt(REPORT, evil))), Page(render(REPORT))
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in clean.tags}
    for tag in ("img", "script", "iframe", "link", "object"):
        assert page.named(tag) == []
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
    # and nothing was lost on the way
    shown = "".join(page.text)
    sample = REPORT.samples[0]
    given = [REPORT.title, REPORT.verdict, REPORT.command, REPORT.recipe, sample.source]
    given += [sample.hypothesis, sample.reference, *sample.tokens, "train.zh", "empty lines"]
    for text in given:
        assert text + evil in shown


def test_the_page_is_whole_and_asks_for_nothing():
    text = render(REPORT)
    page = Page(text)
    assert text.startswith("<!doctype html>")
    for _, attributes in page.tags:
        assert not {"src", "href", "srcset", "action", "data", "xlink:href"} & set(attributes)
    assert not re.search(r"@import|url\(|https?:", text)
    policy = page.named("meta")[1]
    assert policy["content"].startswith("default-src 'none'")


def test_the_numbers_are_there():
    page = Page(render(REPORT))
    shown = " ".join(page.text)
    for number in ("15.32", "29.2", "58.9", "1.01", "412", "1,234", "71.25", "−0.50", "4,912,128"):
        assert number in shown
    assert SIGNATURE in shown.replace("\u200b", "")
    assert "train.zh: lines 17, 9,001 …" in shown
    assert "5.125 at step 200" in shown
    assert "I ← 我: 0.750" in page.titles
    assert {"0.75", "0.25", "<.01", ">.99", "·"} <= set(page.text)


def test_texts_carry_their_language_and_direction():
    sentences = [a for a in Page(render(REPORT)).named("dd") if "dir" in a]
    assert [a["lang"] for a in sentences] == ["zh", "en", "en"]
    assert {a["dir"] for a in sentences} == {"auto"}


def test_tables_can_be_read_aloud():
    page = Page(render(REPORT))
    assert len(page.named("table")) == len(page.named("caption")) == 4
    assert all(a.get("scope") in ("row", "col", "colgroup") for a in page.named("th"))
    assert all(a["role"] == "img" and a["aria-label"] for a in page.named("svg"))


EMPTY = {
    "verdict": "",
    "scores": (),
    "metrics": (),
    "drawings": (),
    "samples": (),
    "problems": Problems(),
    "next_steps": (),
}


@pytest.mark.parametrize(
    ("part", "heading"),
    [
        ("metrics", "Learning"),
        ("drawings", "Short and long sentences"),
        ("samples", "Examples"),
        ("problems", "The data"),
        ("next_steps", "What to try next"),
    ],
)
def test_an_empty_part_is_left_out(part, heading):
    assert heading in Page(render(REPORT)).text
    without = Page(render(dataclasses.replace(REPORT, **{part: EMPTY[part]})))
    assert heading not in without.text
    assert len(without.named("section")) == 5


def test_a_title_alone_is_a_page():
    page = Page(render(Report(title="nothing yet")))
    assert page.named("section") == page.named("dl") == []


def test_metrics_without_measures_are_left_out():
    report = dataclasses.replace(REPORT, metrics=[{"step": 1, "learning_rate": 0.1}])
    assert "Learning" not in Page(render(report)).text


def test_a_sample_may_have_no_attention_no_reference_and_no_words():
    page = Page(render(Report(title="t", samples=(Sample("我", ""),))))
    assert page.named("table") == []
    assert "(empty)" in page.text
    assert "reference" not in page.text
    assert not any("where the model looked" in text for text in page.text)


def test_several_systems_are_named_over_their_columns():
    report = dataclasses.replace(
        REPORT, drawings=(lengths({"attention": CURVE, "固定向量": CURVE}),)
    )
    page = Page(render(report))
    groups = [a for a in page.named("th") if a.get("scope") == "colgroup"]
    assert [a["colspan"] for a in groups] == ["3", "3"]
    assert {"attention", "固定向量"} <= set(page.text)


def test_sets_of_other_sentences_have_their_own_counts():
    test = LengthCurve((LengthRow(Bucket(1, 10), 77, 6.25, 20.0, 50.0, 1.0),), "words", SIGNATURE)
    page = Page(
        render(dataclasses.replace(REPORT, drawings=(lengths({"dev": CURVE, "test": test}),)))
    )
    groups = [a for a in page.named("th") if a.get("scope") == "colgroup"]
    assert [a["colspan"] for a in groups] == ["5", "5"]
    row = page.text.index("1–10", page.text.index("hyp/ref"))
    assert page.text[row + 1 : row + 11] == [
        *("412", "5.5", "29.2", "58.9", "1.01"),
        *("77", "6.2", "20.0", "50.0", "1.00"),
    ]
    assert "412/77" in page.text


def test_the_page_can_be_written_whatever_is_in_the_text():
    page = render(Report(title="a\x00b\ud800c\x1b[31m"))
    assert page.encode("utf-8")
    assert r"a\x00b\ud800c\x1b[31m" in page


def test_the_shades_follow_the_weights():
    table = heat_table([[0.05, 0.9, 0.0]], ["I"], ["我", "是", "学"], caption="c")
    low, high, none = re.findall(r"<td (title=.*?)>", table)
    assert 'class="w1 faint"' in low
    assert f'class="w{STEPS}"' in high  # the strongest of the map has the full colour
    assert 'class="none"' in none


def test_weights_below_zero_have_another_ramp():
    table = heat_table([[-0.5, 1.0]], ["I"], ["我", "是"], caption="c")
    assert re.findall(r'class="(\w+)"', table)[1:] == [f"n{STEPS // 2}", f"p{STEPS}"]


def test_the_colours_are_those_of_the_viewer():
    rules = dict(
        re.findall(r"\.heat \.(\w+)\{background:(#\w+)", heat_stylesheet().split("@media")[0])
    )
    ramp = THEMES["light"].weights.full.split()
    assert [rules["w0"], rules[f"w{STEPS}"]] == [f"#{ramp[0]}", f"#{ramp[-1]}"]
    viewer = bundle.stylesheet()
    for name in ("ground", "raised", "ink", "soft", "accent", "warn"):
        day, night = re.findall(rf"--{name}: ([^;]+);", palette())
        assert f"--{name}: {day};" in viewer
        assert f"--{name}: {night};" in viewer
    used = set(re.findall(r"var\((--[\w-]+)\)", stylesheet()))
    set_somewhere = set(re.findall(r"(--[\w-]+):", stylesheet()))
    assert used <= set_somewhere | {"--share"}  # of a mark, in its element


def test_long_labels_are_turned_and_many_keys_are_dense():
    assert "turned" not in heat_table([[1.0]], ["international"], ["学生"], caption="c")
    assert "turned" in heat_table([[1.0]], ["I"], ["international"], caption="c")
    assert "dense" in heat_table([[0.04] * 25], ["I"], ["x"] * 25, caption="c")


def test_weights_and_labels_must_match():
    with pytest.raises(ValueError, match=r"1 × 2 .* labels for 1 queries and 1 keys"):
        heat_table([[0.5, 0.5]], ["I"], ["我"], caption="c")


def test_markup_is_kept_and_text_is_escaped():
    assert element("p", "<", Markup("<b>x</b>"), class_='"') == '<p class="&quot;">&lt;<b>x</b></p>'
    assert element("br") == "<br/>"
    assert element("p", lang=None, tabindex=0) == '<p tabindex="0"></p>'
