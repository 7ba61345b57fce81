"""How attention looks at pictures: glimpses of a retina, windows of Gaussian filters, warped grids.

Places are (x, y) from -1 to 1: (-1, -1) is the upper left corner of a picture, (0, 0) its middle, (1, 1) its
lower right corner. So the first pixel of a row of W lies at 1 / W - 1. Outside of a picture all is 0.
"""
