"""What an expression of PromQL names: series with their matchers, and the labels that it groups by."""

import re
from dataclasses import dataclass

TOKEN = re.compile(r"""
    (?P<space> \s+ | \#.* ) | (?P<text> "(?:[^"\\]|\\.)*" ) | (?P<range> \[ [^\]]* \] ) | (?P<number> \d[\w.]* )
    | (?P<word> [A-Za-z_:][\w:]* ) | (?P<sign> =~|!~|!=|==|<=|>=|[-+*/%^(){},=<>] )""", re.X)
GROUPINGS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
WORDS = {"and", "or", "unless", "offset", "bool", "inf", "nan"}
MATCHES = {"=", "!=", "=~", "!~"}


@dataclass(frozen=True)
class Series:
    """A selector: a name, and its matchers as (label, sign, value)."""
    name: str
    matchers: tuple


def tokens(expression):
    at = 0
    while at < len(expression):
        found = TOKEN.match(expression, at)
        if not found:
            raise ValueError("cannot read %r" % expression[at:at + 20])
        at = found.end()
        if found.lastgroup != "space":
            yield found.lastgroup, found[0]


def names(expression):
    """The series that an expression selects, and the labels of its groupings."""
    series, labels = [], set()
    found = [*tokens(expression), ("end", "")]
    at = 0

    def until(closing):
        """The texts up to a sign, behind the present one."""
        nonlocal at
        taken = []
        at += 1
        while found[at][1] != closing:
            if found[at][0] == "end":
                raise ValueError("no %s in %r" % (closing, expression))
            taken.append(found[at][1])
            at += 1
        return taken

    while found[at][0] != "end":
        kind, text = found[at]
        behind = found[at + 1][1]
        if kind == "word" and text in GROUPINGS:
            if behind == "(":
                at += 1
                labels.update(word for word in until(")") if word != ",")
        elif kind == "word" and text not in WORDS and behind != "(" and behind not in GROUPINGS:
            matchers = ()
            if behind == "{":
                at += 1
                matchers = tuple(read_matchers(until("}")))
            series.append(Series(text, matchers))
        elif text == "{":
            raise ValueError("a selector without a name in %r" % expression)
        at += 1
    return series, labels


def read_matchers(texts):
    for at in range(0, len(texts), 4):
        label, sign, value = texts[at:at + 3]
        if sign not in MATCHES:
            raise ValueError("cannot read the matcher of %s" % label)
        yield label, sign, re.sub(r"\\(.)", r"\1", value[1:-1])
