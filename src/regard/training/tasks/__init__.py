"""What each task is to a run: its data, its loss, its measures and its part of the report."""

from regard.training.tasks.choosing import task_of
from regard.training.tasks.run_task import Evaluation, RunTask, Tally, Validation

__all__ = ["Evaluation", "RunTask", "Tally", "Validation", "task_of"]
