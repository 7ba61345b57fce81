"""The commands of `regard`, a file each."""
