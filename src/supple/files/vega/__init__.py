"""Files of VegaFEM's reduced models."""
