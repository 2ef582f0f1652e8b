"""Fusion: an array that is only read where it is made need not be made.

Three steps. Cheap producers are computed where they are read, at whatever index (`producers`). Parfors of one
extent in one body become one, a producer with its consumer and siblings with one another, level by level into
the nests; so do neighbouring branches on one condition (`siblings`). Then what nobody reads is dropped.

Before:
    fn f(x: f64[n, m]) -> f64[n] {
      e = parfor i < n { r = parfor j < m { v = x[i, j]; w = exp v; yield stack w }; yield stack r }
      s = parfor i < n { t = parfor j < m { v = e[i, j]; yield reduce add v }; yield stack t }
      return s
    }
After:
    fn f(x: f64[n, m]) -> f64[n] {
      s = parfor i < n { t = parfor j < m { v = x[i, j]; w = exp v; yield reduce add w }; yield stack t }
      return s
    }
"""

from __future__ import annotations

from anadrome.array_ir.dead import STRUCTURED, remove_dead
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.walk import holds
from anadrome.config import Config
from anadrome.passes.horizontal_fusion import merge_siblings
from anadrome.passes.vertical_fusion import inline_producers


def fuse(fn: Function, config: Config) -> Function:
    """The function with producers put into their consumers and siblings of one extent merged."""
    if not holds(fn.body, *STRUCTURED):
        return fn
    inlined = inline_producers(fn)
    return remove_dead(merge_siblings(inlined if inlined is fn else remove_dead(inlined)))
