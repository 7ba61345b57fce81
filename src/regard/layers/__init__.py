"""The layers around attention: recurrent cells, parts of encoders and decoders, their contracts; and what
looks at pictures.
"""

from regard.layers.pictures import (
    AffineWarp,
    GaussianWindow,
    ProjectiveWarp,
    Pyramid,
    Retina,
    ScaledWarp,
    ThinPlateWarp,
    Warp,
)

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
