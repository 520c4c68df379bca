"""Made by generate.py from openapi.json: do not edit."""
