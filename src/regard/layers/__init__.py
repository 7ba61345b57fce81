"""What stands around attention: recurrent cells, encoders' and decoders' parts, and their contracts."""
