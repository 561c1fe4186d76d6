"""Unmixing matrices by going uphill: contrasts and fixed points, the likelihood and quasi-Newton steps."""
