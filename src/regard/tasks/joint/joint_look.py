"""Looking at a joint model: how much of the source vector of each target token comes of each source word."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from regard.models.joint.joint_decoder import JointDecoder
from regard.models.joint.source_cnn import SourceCnn
from regard.records.attention_map import AttentionMap
from regard.records.maps import NothingToSee, record_of
from regard.records.question import BadQuestion, Question
from regard.records.reading_notes import reading_notes
from regard.records.record import AttentionRecord
from regard.records.token_sides import token_side
from regard.search import Search
from regard.tasks.text_look import unmeasured_note
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.joint.joint_module import Joint

GATES = "local and global gates, spread evenly over the words of a window"
PLACE = "the middle of the window, by the lexicon"


def look_at_joint(
    module: Joint,
    question: Question,
    settings: Search,
    *,
    model: str = "",
    languages: tuple[str, str] = ("", ""),
    longest: int | None = None,
) -> AttentionRecord:
    """Map "cross": target tokens over source tokens, of the best translation, or of question.target.

    longest: tokens of a source that it was trained on.
    """
    question.check_length()
    if not question.text.strip():
        raise BadQuestion(t("there is nothing to translate: the text is blank"))
    if question.force is not None or question.off:
        raise BadQuestion(
            t(
                "the source vector of a joint model has no attention that could be forced, and "
                "no heads"
            )
        )
    beam = question.beam or max(settings.beam, question.nbest or 1)
    settings = replace(settings, beam=beam, nbest=question.nbest or 1)
    if question.target is not None:
        (chosen,) = module.score([question.text], [question.target], settings)
    else:
        (chosen,) = module.predict([question.text], settings, prefixes=[question.prefix])
    seen = module.shares(chosen.source_tokens.ids, chosen.ids)
    if seen is None:
        raise NothingToSee(
            t(
                "there is nothing to look at: this model has no gates (model.encoder=none, or "
                "model.gate=false)"
            )
        )
    decoder = module.model.decoder
    assert isinstance(decoder, JointDecoder)
    how = GATES if isinstance(decoder.reader, SourceCnn) else PLACE
    weights = seen.float().cpu().numpy()[None, None]
    source = chosen.source_tokens
    sides = {
        "source": token_side(
            question.text, source, end=True, title="source", language=languages[0]
        ),
        "target": token_side(
            chosen.text, chosen.tokens, end=chosen.finished, title="target", language=languages[1]
        ),
    }
    read = question.text, source, module.source_tokenizer
    notes = reading_notes(*read, language=languages[0], longest=longest)
    if module.lexicon is not None:
        notes = [*notes, t("which word is translated next, a lexicon says, not the model")]
    return record_of(
        question,
        sides,
        [AttentionMap("cross", "target", "source", weights, mechanism=how, reported="layer 1")],
        model=model,
        output=chosen.text,
        notes=notes,
        after=unmeasured_note(question),
    )
