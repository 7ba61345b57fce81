"""What can be chosen about joint models. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from regard.tasks.translate.translate_options import TranslateOptions


class JointOptions(TranslateOptions):
    """Text to text, judged by how probable each word is: pairs of a source and a target."""

    metrics: ClassVar[tuple[str, ...]] = ("loss", "bleu", "chrf")
    models: ClassVar[str] = "translate"
    kind: Literal["joint"] = "joint"  # type: ignore[assignment]

    def task(self, recipe: Any) -> Any:
        from regard.tasks.joint.joint_task import JointTask

        return JointTask(recipe)
