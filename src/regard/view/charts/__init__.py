"""Charts as SVG that is right in light and dark pages and needs no script."""

from regard.view.charts.line_chart import Axis, Chart, Line, Point, round_numbers, stylesheet

__all__ = ["Axis", "Chart", "Line", "Point", "round_numbers", "stylesheet"]
