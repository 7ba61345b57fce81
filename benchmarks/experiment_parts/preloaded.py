"""Imported once by the process that trainings are forked from: none of it touches a GPU."""

import lightning.fabric  # noqa: F401
import PIL.Image  # noqa: F401
import sacrebleu  # noqa: F401
import torch  # noqa: F401

import regard.cli.app
import regard.cli.commands.train
import regard.models.captions.show_attend_tell
import regard.models.seeing.seers
import regard.report.run_report
import regard.search
import regard.tasks.caption.pointed_caption_task
import regard.tasks.paint.paint_task
import regard.tasks.see.see_task
import regard.training.run  # noqa: F401
