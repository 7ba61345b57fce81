"""Where somebody goes next: ST-RNN, and what it is compared with."""
