"""Checks the rendered manifests with Kubernetes' own schemas, and the schema of the values with examples and wrong values.

validate.ts runs it, with {"rendered": DIR, "chart": DIR, "versions": [...], "badValues": [...]} on standard input. Each
problem is a line; the last line counts the checks.
"""

import copy
import json
import pathlib
import sys

import jsonschema
import kubernetes_validate
import yaml

task = json.load(sys.stdin)
rendered, chart = pathlib.Path(task["rendered"]), pathlib.Path(task["chart"])
problems: list[str] = []


def merge(base: dict, over: dict) -> dict:
    """As helm does it: maps are merged, everything else is replaced, and null removes."""
    result = copy.deepcopy(base)
    for key, value in over.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = value
    return result


def at_path(path: str, value: object) -> dict:
    first, _, rest = path.partition(".")
    return {first: at_path(rest, value) if rest else value}


def check_manifests() -> int:
    checked = 0
    for file in sorted(rendered.glob("*.yaml")):
        for manifest in filter(None, yaml.safe_load_all(file.read_text())):
            # A custom resource: its schema is not Kubernetes' own.
            if manifest["apiVersion"].startswith("monitoring.coreos.com/"):
                continue
            for version in task["versions"]:
                name = f"{file.name}: {manifest['kind']} {manifest['metadata']['name']} in Kubernetes {version}"
                try:
                    kubernetes_validate.validate(manifest, version, strict=True)
                    checked += 1
                except kubernetes_validate.ValidationError as error:
                    problems.append(f"{name}: {'.'.join(map(str, error.path))}: {error.message}")
                except kubernetes_validate.SchemaNotFoundError as error:
                    problems.append(f"{name}: {error.message}")
    return checked


def check_values() -> int:
    schema = json.loads((chart / "values.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    defaults = yaml.safe_load((chart / "values.yaml").read_text())
    examples = {
        file.name: merge(defaults, yaml.safe_load(file.read_text())) for file in sorted((chart / "ci").glob("*.yaml"))
    }
    for name, values in {"values.yaml": defaults, **examples}.items():
        problems.extend(f"{name}: /{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(values))
    for bad in task["badValues"]:
        values = examples["minimal-values.yaml"]
        for path, value in bad["set"].items():
            values = merge(values, at_path(path, value))
        if validator.is_valid(values) == bad["bySchema"]:
            problems.append(f"{bad['title']}: the schema {'accepts' if bad['bySchema'] else 'refuses'} it")
    return 1 + len(examples) + len(task["badValues"])


manifests, values = check_manifests(), check_values()
for problem in problems:
    print(problem)
print(f"{manifests} manifests and {values} sets of values were checked: {len(problems)} problems")
sys.exit(1 if problems or manifests < 30 else 0)
