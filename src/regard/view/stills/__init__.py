"""Still pictures: SVG and PNG, drawn without a browser."""
