"""The objects that the service returns, with their fields as attributes.

Type checkers treat a subclass of :class:`Model` as a frozen dataclass. It is not one, because a hundred dataclasses
would compile their methods anew on every import, which takes longer than everything else in this package together.
"""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

if sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:
    from typing_extensions import dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

    Decode = Callable[[Any], Any]

M = TypeVar("M", bound="Model")
#: Not fields, though they are stored beside them.
_ETAG, _UNKNOWN = "_etag", "_unknown"
#: Printing or logging an object must not publish a credential.
_HIDDEN = {"key", "secret", "token", "recovery_codes", "otpauth_url"}
_MAX_TEXT, _MAX_REPR = 40, 200


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Model:
    """Something that the service returned. It cannot be changed, and equals another with the same values.

    A field that the response left out is None.
    """

    #: Attribute and decoder of each name on the wire.
    _fields: ClassVar[dict[str, tuple[str, Decode | None]]] = {}
    #: Names on the wire that differ from the attribute's.
    _wire_names: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls) -> None:
        names = [name for name, kind in cls.__annotations__.items() if not kind.startswith("ClassVar")]
        own = {cls._wire_names.get(name, name): (name, None) for name in names}
        cls._fields = {**cls._fields, **own}

    def __init__(self, **values: Any) -> None:
        names = [name for name, _ in self._fields.values()]
        missing = [name for name in names if name not in values and not hasattr(type(self), name)]
        unknown = [name for name in values if name not in names]
        for problem, found in (("needs", missing), ("has no field", unknown)):
            if found:
                raise TypeError(f"{type(self).__name__} {problem} {', '.join(found)}")
        self.__dict__.update(values)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The object of a JSON object, as the service sends it."""
        self = cls.__new__(cls)
        values, fields = self.__dict__, cls._fields
        unknown = {}
        for wire, value in data.items():
            field = fields.get(wire)
            if field is None:
                unknown[wire] = value
            else:
                name, decode = field
                values[name] = value if decode is None else decode(value)
        if unknown:
            values[_UNKNOWN] = unknown
        return self

    if not TYPE_CHECKING:  # a type checker would allow any name

        def __getattr__(self, name: str) -> None:
            """A required field that the response left out all the same, as an older or a newer server may."""
            if any(name == known for known, _ in type(self)._fields.values()):
                return
            raise AttributeError(f"{type(self).__name__} has no field {name}", name=name, obj=self)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object, as the service sends it, with the fields that this version does not know."""
        values = self.__dict__
        known = {wire: to_wire(values[name]) for wire, (name, _) in self._fields.items() if name in values}
        return {**known, **self.unknown_fields}

    @property
    def unknown_fields(self) -> dict[str, Any]:
        """Fields that a newer server sent and this version does not know, as they came."""
        found: dict[str, Any] = self.__dict__.get(_UNKNOWN, {})
        return dict(found)

    def __eq__(self, other: object) -> bool:
        return _values(self) == _values(other) if type(other) is type(self) else NotImplemented

    #: Lists in it can change, so it is in no set and no key.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        text = ""
        for name, value in _values(self).items():
            if value is None:
                continue
            shown = f"{', ' if text else ''}{name.lstrip('_')}={_short(name, value)}"
            if len(text) + len(shown) > _MAX_REPR:
                text += ", …"
                break
            text += shown
        return f"{type(self).__name__}({text})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed: {name}")


class Unrecognised(Model):
    """An object of one of several kinds, if this version does not know the kind. Its fields are attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__[_UNKNOWN][name]
        except KeyError:
            raise AttributeError(name) from None


def _values(model: Any) -> dict[str, Any]:
    values: dict[str, Any] = model.__dict__
    return {name: value for name, value in values.items() if name != _ETAG} if _ETAG in values else values


def _short(name: str, value: Any) -> str:
    if name in _HIDDEN and isinstance(value, (str, list)):
        return "<hidden>"
    if isinstance(value, Model):
        return f"{type(value).__name__}(…)"
    if isinstance(value, datetime):
        return _time_on_wire(value)
    is_list = isinstance(value, list)
    if isinstance(value, dict) or (is_list and any(isinstance(item, (Model, dict, list)) for item in value)):
        return f"<{len(value)} {'items' if is_list else 'fields'}>" if value else repr(value)
    text = repr(value)
    if len(text) <= _MAX_TEXT:
        return text
    return f"<{len(value)} items>" if is_list else f"{text[:_MAX_TEXT]}…{text[0]}"


def with_etag(model: M, etag: str | None) -> M:
    if etag is not None:
        model.__dict__[_ETAG] = etag
    return model


def etag_of(answer: Model) -> str | None:
    """The ``ETag`` of an agent, a webhook or a key that a method returned, for ``if_match``. None for anything else."""
    found: str | None = answer.__dict__.get(_ETAG)
    return found


def _time_on_wire(value: datetime) -> str:
    if value.tzinfo is None:
        raise ValueError("A datetime needs a time zone, for example datetime.now(timezone.utc)")
    precision = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return value.astimezone(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")


def to_wire(value: Any) -> Any:
    """JSON of objects, times, and everything that contains them."""
    if isinstance(value, Model):
        return value.to_dict()
    if isinstance(value, datetime):
        return _time_on_wire(value)
    if isinstance(value, dict):
        return {name: to_wire(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_wire(one) for one in value]
    return value


# Decoders. None of them fails: a value that a newer server sends in another form is passed on unchanged.


def timestamp(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = f"{value[:-1]}+00:00" if value.endswith("Z") else value  # Python 3.10 does not know Z
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return value


def one(kind: type[Model]) -> Decode:
    return lambda value: kind.from_dict(value) if isinstance(value, dict) else value


def each(decode: Decode) -> Decode:
    return lambda value: [decode(item) for item in value] if isinstance(value, list) else value


def by_field(name: str, kinds: Mapping[Any, type[Model]]) -> Decode:
    """A field of the object shows which of several kinds it is."""
    return lambda value: kinds.get(value.get(name), Unrecognised).from_dict(value) if isinstance(value, dict) else value


def decodes(kind: type[Model], **decoders: Decode) -> None:
    """Sets how fields are decoded, once all classes that they need exist."""
    kind._fields = {wire: (name, decoders.get(name, old)) for wire, (name, old) in kind._fields.items()}
