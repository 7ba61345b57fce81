"""The layers around attention: recurrent cells, parts of encoders and decoders, their contracts; and what
looks at pictures.
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
