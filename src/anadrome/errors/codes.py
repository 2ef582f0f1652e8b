"""The code of each error, which stays when its words change: in the hundreds of the room it belongs to.

A new class takes the next number of its room; a number is never used again.
"""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    # the front end
    "FrontendError": "A101",
    "SourceUnavailable": "A102",
    "UnsupportedSyntax": "A103",
    "UnsupportedCall": "A104",
    "UnsupportedArgument": "A105",
    "UnsupportedType": "A106",
    "NumberTooLarge": "A107",
    "NoAttribute": "A108",
    "StaticRequired": "A109",
    "StaticCallFailed": "A110",
    "ShapeMismatch": "A111",
    "StaticIndexError": "A112",
    "TooManyIndices": "A113",
    "PromotionError": "A114",
    "AmbiguousTruth": "A115",
    "ChangesType": "A116",
    "ChangesSize": "A117",
    "BranchesDiffer": "A118",
    "Undefined": "A119",
    "WritesArgument": "A120",
    "WritesThroughView": "A121",
    "EscapingMutation": "A122",
    "RecursionTooDeep": "A123",
    "AnnotationMismatch": "A124",
    "CallMismatch": "A125",
    "CheckpointPolicy": "A126",
    "ComplexRefused": "A127",
    "MalformedIndex": "A128",
    "UnsuitableSize": "A129",
    "MalformedAnnotation": "A130",
    # differentiation
    "NotDifferentiable": "A201",
    "ClosedOver": "A202",
    "RuleNotLinear": "A203",
    # calls and transforms
    "CallError": "A301",
    "UnsupportedArray": "A302",
    "UnhashableStatic": "A303",
    "StaticUnhashable": "A304",
    "IntegerOutOfRange": "A305",
    "IntegerArgument": "A306",
    "NothingToDifferentiate": "A307",
    "NonScalarOutput": "A308",
    "AuxiliaryMissing": "A309",
    "StructureMismatch": "A310",
    "ArgumentNumbers": "A311",
    "UnsupportedResult": "A312",
    "NotCallable": "A313",
    "AxisMismatch": "A314",
    "StagedOutside": "A315",
    "GradientMismatch": "A316",
    "UnknownStage": "A317",
    "SizeUnknown": "A318",
    "RuleMissing": "A319",
    "RuleMismatch": "A320",
    "UnknownMode": "A321",
    "SettingMismatch": "A322",
    "UnknownsMismatch": "A323",
    "ComplexDerivative": "A324",
    "NonFloatOutput": "A325",
    # parallel operations
    "UnknownOperator": "A401",
    "OperatorUndefined": "A402",
    "IdentityMissing": "A403",
    "IdentityDiffers": "A404",
    "OperatorDiffers": "A405",
    "UnsuitableBounds": "A406",
    "UnsuitableValues": "A407",
    "CastRefused": "A408",
    # sparse derivatives
    "PatternError": "A451",
    "PatternSize": "A452",
    "PatternTooLarge": "A453",
    "SparseInside": "A454",
    "SparseAuxiliary": "A455",
    "SparseOutput": "A456",
    # the running program
    "RuntimeCheckError": "A501",
    "IndexOutOfBounds": "A502",
    "SizeMismatch": "A503",
    "AssertionFailed": "A504",
    "RaisedError": "A505",
    "EmptyReduction": "A506",
    "SingularMatrix": "A507",
    "NotConverged": "A508",
    "OutOfMemory": "A509",
    "BudgetExceeded": "A510",
    "NonFinite": "A511",
    # this machine
    "MissingFunction": "A601",
    "MissingTransforms": "A602",
    # tools and the command line
    "DataFileError": "A701",
    "TargetError": "A702",
    "ArgumentTextError": "A703",
    # settings
    "UnsuitableSetting": "A801",
    # bugs of Anadrome itself
    "IRError": "A901",
    "IRSyntaxError": "A902",
}
"""Class -> code; a class without one has that of the nearest class above it."""
