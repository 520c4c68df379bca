"""Prints the public surface of the Python SDK as JSON.

It parses the sources, so neither the SDK nor what it depends on has to be installed.
"""

import ast
import json
import sys
from pathlib import Path

package = Path(sys.argv[1])
modules = [ast.parse(file.read_text()) for file in sorted(package.rglob("*.py"))]
functions = (ast.FunctionDef, ast.AsyncFunctionDef)
public_functions = {
    node.name
    for module in modules
    for node in module.body
    if isinstance(node, functions) and not node.name.startswith("_")
}


def name_of(node):
    if isinstance(node, ast.Subscript):
        return name_of(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def find(name, near=None):
    """The class, and its module. A namespace and a model may have the same name: that of the same module is meant."""
    here = [module for module in modules if module is near]
    for module in [*here, *reversed(modules)]:
        for node in module.body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return node, module
    return None, None


def lineage(name, near=None):
    """The class and those that it inherits from, as far as they are ours, with their modules."""
    node, module = find(name, near)
    if node is None:
        return []
    # `builtins.TimeoutError` is not ours, although its name is.
    bases = [name_of(base) for base in node.bases if name_of(getattr(base, "value", None)) != "builtins"]
    return [(node, module), *(one for base in bases for one in lineage(base, module))]


def public(names):
    return sorted({name for name in names if not name.startswith("_")})


def is_property(node):
    return any(name_of(one) in ("property", "cached_property") for one in node.decorator_list)


def targets_of(node):
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []


class Surface:
    """The members of a class, with those that it inherits."""

    def __init__(self, name, near=None):
        self.lineage = lineage(name, near)
        self.members = [node for each, _ in self.lineage for node in each.body]
        self.functions = [node for node in self.members if isinstance(node, functions)]
        self.constructors = [node for node in self.functions if node.name == "__init__"]

    def assigned(self):
        """`self.x = value` of the constructors, by name."""
        return {
            target.attr: node.value
            for constructor in self.constructors
            for node in ast.walk(constructor)
            for target in targets_of(node)
            if isinstance(target, ast.Attribute) and name_of(target.value) == "self"
        }

    def methods(self):
        static = [
            name_of(target)
            for node in self.members
            for target in targets_of(node)
            if isinstance(node.value, ast.Call) and name_of(node.value.func) == "staticmethod"
        ]
        kept = [name for name, value in self.assigned().items() if name_of(value) in public_functions]
        return public([*static, *kept, *(node.name for node in self.functions if not is_property(node))])

    def fields(self):
        properties = [node.name for node in self.functions if is_property(node)]
        return public({*properties, *self.assigned()} - set(self.methods()))

    def parameters(self):
        args = self.constructors[0].args
        return public(arg.arg for arg in [*args.args[1:], *args.kwonlyargs])

    def namespaces(self):
        """Instances of our own classes: `self.agents = Agents(transport)`."""
        module = {field: each for node, each in self.lineage for field in Surface(node.name, each).assigned()}
        return {
            field: Surface(name_of(value.func), module[field]).methods()
            for field, value in self.assigned().items()
            if isinstance(value, ast.Call) and not field.startswith("_") and find(name_of(value.func))[0]
        }


def client(name):
    surface = Surface(name)
    return {
        "options": surface.parameters(),
        "methods": surface.methods(),
        "namespaces": surface.namespaces(),
    }


def parent(name):
    """The nearest class above it that is public; Exception for one that stands alone."""
    above = [node.name for node, _ in lineage(name)[1:]]
    return next((each for each in above if each in exports), "Exception")


def is_error(name):
    return any(name_of(base) == "Exception" for node, _ in lineage(name) for base in node.bases)


exports = next(
    ast.literal_eval(node.value)
    for node in ast.parse((package / "__init__.py").read_text()).body
    if isinstance(node, ast.Assign) and name_of(node.targets[0]) == "__all__"
)
surface = {
    "client": client("Perch"),
    "async_client": client("AsyncPerch"),
    "errors": {
        name: {"parent": parent(name), "fields": Surface(name).fields()} for name in exports if is_error(name)
    },
    "classes": {
        name: public([*Surface(name).methods(), *Surface(name).fields()])
        for name in ("PageList", "RunStream")
        if name in exports
    },
    "functions": public(name for name in exports if name in public_functions),
}
print(json.dumps(surface))
