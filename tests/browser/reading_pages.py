"""The page as a person uses it: asks, opens panels, reads numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from regard.records.record import AttentionRecord

expect = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect

QUESTION = "a sentence for the model"
ROUNDED = 0.00051  # numbers are shown with three decimals


def number(text: str) -> float:
    """ "−0.42", "≈0", "<.001" and "0.3 of 1" as numbers."""
    first = text.strip().split()[0]
    return 0.0 if first.startswith(("≈", "<")) else float(first.replace("−", "-"))


def ask(page, sentence: str) -> AttentionRecord:
    """Types a sentence, and waits until its answer is shown."""
    line = page.get_by_label(QUESTION)
    with page.expect_response("**/attention") as answer:
        line.fill(sentence)
        line.press("Enter")
    record = AttentionRecord.from_dict(answer.value.json())
    expect(sentence_of(page, "target").get_by_role("button").first).to_be_visible()
    return record


def sentence_of(page, name: str):
    """The words of a side: source, target."""
    return page.get_by_role("group", name=f"{name}: ")


def words_of(page, name: str) -> list[str]:
    return sentence_of(page, name).get_by_role("button").all_inner_texts()


def open_panel(page, title: str):
    page.get_by_role("tab", name=title).click()
    return page.get_by_role("tabpanel", name=title)


def choose(page, group: str, name: str) -> None:
    """One of the radio buttons that look like a bar."""
    page.get_by_role("radiogroup", name=group).get_by_role("radio", name=name, exact=True).check()


def pick(page, name: str, option: str) -> None:
    """An option of one of the lists over the map: layer, head."""
    bar = page.get_by_role("group", name="what is shown")
    bar.get_by_role("combobox", name=re.compile(f"^{name}")).select_option(label=option)


def switch(page, name: str) -> None:
    page.locator("label").filter(has=page.get_by_role("switch", name=name)).click()


def links_of(page, count: int = 99) -> list[tuple[str, str, float]]:
    """Query, key and weight of each line of the table of links."""
    panel = open_panel(page, "Table")
    panel.get_by_label("Strongest keys of each query").fill(str(count))
    lines = panel.get_by_role("table").locator("tbody tr").all_inner_texts()
    cells = [line.split("\t") for line in lines]
    return [(query.strip(), key.strip(), number(weight)) for query, key, weight in cells]


def shown_matrix(page, queries: str, keys: str) -> np.ndarray:
    """The whole matrix, read from the table: rows and columns in the order of the words on the page."""
    rows, columns = words_of(page, queries), words_of(page, keys)
    assert len(set(rows)) == len(rows)
    assert len(set(columns)) == len(columns)
    links = links_of(page)
    assert len(links) == len(rows) * len(columns)
    matrix = np.full((len(rows), len(columns)), np.nan)
    for query, key, weight in links:
        matrix[rows.index(query), columns.index(key)] = weight
    return matrix


def word_numbers_of(labels: list[str], tokens: tuple[str, ...]) -> list[int]:
    """To which of the words on the page each token belongs: words are tokens written together."""
    numbers, word, written = [], 0, ""
    for token in tokens:
        written += token
        numbers.append(word)
        assert labels[word].startswith(written), f"{written!r} is not in {labels}"
        if labels[word] == written:
            word, written = word + 1, ""
    assert word == len(labels)
    return numbers


def background(word) -> tuple[float, ...]:
    """Red, green, blue and opacity of what a word is painted on."""
    colour = word.evaluate("(element) => getComputedStyle(element).backgroundColor")
    parts = colour[colour.index("(") + 1 : -1].replace(",", " ").replace("/", " ").split()
    red, green, blue, *opacity = (float(part) for part in parts)
    return red, green, blue, opacity[0] if opacity else 1.0


def darkness(word) -> float:
    """0 for white, 1 for black, as it looks on white paper."""
    *rgb, opacity = background(word)
    return opacity * (1 - sum(rgb) / (3 * 255))


def read_cells(page, figure, rows: int, columns: int) -> np.ndarray:
    """Walks over a small matrix with the arrow keys and reads what it says of each cell."""
    figure.get_by_role("img").focus()
    numbers = np.empty((rows, columns))
    for row in range(rows):
        for column in range(columns):
            numbers[row, column] = number(figure.locator("output b").inner_text())
            page.keyboard.press("ArrowRight")
        for _ in range(columns):
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowDown")
    return numbers
