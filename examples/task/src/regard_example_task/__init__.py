"""A task of one's own: `regard train word-tags data.train=bank.conllu#form,upos`."""
