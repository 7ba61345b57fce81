"""How attention looks at pictures: glimpses of a retina, windows of Gaussian filters, warped grids.

Places are (x, y) from -1 to 1: (-1, -1) is the upper left corner of a picture, (0, 0) its middle, (1, 1) its
lower right corner. So the first pixel of a row of W lies at 1 / W - 1. Outside of a picture all is 0.
"""

from regard.layers.pictures.gaussian_window import GaussianWindow
from regard.layers.pictures.retina import Pyramid, Retina
from regard.layers.pictures.warps import AffineWarp, ProjectiveWarp, ScaledWarp, ThinPlateWarp, Warp

__all__ = [
    "AffineWarp",
    "GaussianWindow",
    "ProjectiveWarp",
    "Pyramid",
    "Retina",
    "ScaledWarp",
    "ThinPlateWarp",
    "Warp",
]
