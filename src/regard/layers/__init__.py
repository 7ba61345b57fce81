"""The layers around attention: recurrent cells, the parts of encoders and decoders, and their contracts."""
