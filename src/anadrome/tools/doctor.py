"""The state of an installation: versions, processor, libraries that compiled code uses, the object cache."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import llvmlite.binding as llvm

from anadrome.compile import IS_COMPILED
from anadrome.config import Config
from anadrome.targets.cache import CacheRefused, ObjectCache
from anadrome.targets.cpu_machine import this_machine
from anadrome.targets.cpu_transforms import add_transforms

NO_THREADS = (
    "none found: programs run on one thread; install an OpenMP runtime (the package libgomp1 or libomp)"
)
NO_VECTORS = "none found: exp, log and their like run one element at a time"

NO_TRANSFORMS = "none found: programs with `np.fft` are refused; NumPy 2.0 to 2.4 have them"


def findings(config: Config) -> Iterator[tuple[str, str]]:
    """(what, how it is), one after the other."""
    yield "anadrome", _version("anadrome")
    yield "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield "stages", "compiled by mypyc" if IS_COMPILED else "Python"
    for package in ("numpy", "scipy", "llvmlite"):
        yield package, _version(package)
    yield "llvm", ".".join(str(part) for part in llvm.llvm_version_info)
    machine = this_machine()
    target = machine.target
    yield "processor", f"{target.cpu}, vectors of {target.vector_bits} bits"
    yield "target", target.triple
    yield "threads", f"{config.workers}, by the OpenMP runtime" if target.fork_join else NO_THREADS
    names = sorted(target.vector_functions)
    yield "vector math", f"{len(names)} functions: {', '.join(names)}" if names else NO_VECTORS
    loops = add_transforms()
    yield "transforms", f"{len(loops)} loops of NumPy" if loops else NO_TRANSFORMS
    yield "cache", cache_state(config)
    yield "plots", _version("matplotlib")


def cache_state(config: Config) -> str:
    """Where object code is kept and how much of it there is, or why none is."""
    if not config.cache:
        return "off"
    cache = ObjectCache(config.cache_path, config.cache_megabytes)
    doubt = cache.doubt()
    if doubt is not None:
        return f"{config.cache_path}, not used: {doubt.words}; `{doubt.remedy}` mends it"
    read_only = "" if cache.is_writable() else ", cannot be written"
    return f"{config.cache_path}, {cache.size() / 2**20:.1f} of {config.cache_megabytes} MiB{read_only}"


def clear_cache(config: Config) -> str:
    """Remove all object code; what was done, or why nothing was."""
    try:
        freed = ObjectCache(config.cache_path, config.cache_megabytes).clear()
    except CacheRefused as refusal:
        return f"nothing removed: {refusal.doubt.words}; `{refusal.doubt.remedy}` mends it"
    return f"removed {freed / 2**20:.1f} MiB from {config.cache_path}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
