# SPDX-License-Identifier: MIT
# Enums of Rust that are passed in registers: which variant it is, and nothing of the others.
as: both

case: enums in registers, opt-level 0
needs: rustc
until: alone
run: blip trace --args --function variants::word --function variants::byte --function variants::truth --function variants::result --function variants::shape -- $TARGETS/variants_O0
expect-match: word: \{ o = \{ variant = None \(0\) \} \}
expect-match: word: \{ o = \{ variant = Some \(1\), Some = 42 \} \}
expect-match: byte: \{ o = \{ variant = None \(0\) \} \}
expect-match: byte: \{ o = \{ variant = Some \(1\), Some = 44 \} \}
expect-match: truth: \{ o = \{ variant = None \(1\) \} \}
expect-match: truth: \{ o = \{ variant = Some \(0\), Some = true \} \}
expect-match: result: \{ r = \{ variant = Ok \(0\), Ok = 3 \} \}
expect-match: result: \{ r = \{ variant = Err \(1\), Err = 4 \} \}
expect-match: shape: \{ s = \{ variant = Dot \(0\) \} \}
expect-match: shape: \{ s = \{ variant = Circle \(1\), Circle = 5 \} \}
expect-match: shape: \{ s = \{ variant = Rect \(2\), Rect = \{ w = 2, h = 3 \} \} \}

case: enums in registers, opt-level 1
needs: rustc
until: alone
run: blip trace --args --function variants::word --function variants::byte --function variants::truth --function variants::result --function variants::shape -- $TARGETS/variants_O1
expect-match: word: \{ o = \{ variant = None \(0\) \} \}
expect-match: word: \{ o = \{ variant = Some \(1\), Some = 42 \} \}
expect-match: byte: \{ o = \{ variant = None \(0\) \} \}
expect-match: byte: \{ o = \{ variant = Some \(1\), Some = 44 \} \}
expect-match: truth: \{ o = \{ variant = None \(1\) \} \}
expect-match: truth: \{ o = \{ variant = Some \(0\), Some = true \} \}
expect-match: result: \{ r = \{ variant = Ok \(0\), Ok = 3 \} \}
expect-match: result: \{ r = \{ variant = Err \(1\), Err = 4 \} \}
expect-match: shape: \{ s = \{ variant = Dot \(0\) \} \}
expect-match: shape: \{ s = \{ variant = Circle \(1\), Circle = 5 \} \}
expect-match: shape: \{ s = \{ variant = Rect \(2\), Rect = \{ w = 2, h = 3 \} \} \}

case: enums in registers, opt-level 2
needs: rustc
until: alone
run: blip trace --args --function variants::word --function variants::byte --function variants::truth --function variants::result --function variants::shape -- $TARGETS/variants_O2
expect-match: word: \{ o = \{ variant = None \(0\) \} \}
expect-match: word: \{ o = \{ variant = Some \(1\), Some = 42 \} \}
expect-match: byte: \{ o = \{ variant = None \(0\) \} \}
expect-match: byte: \{ o = \{ variant = Some \(1\), Some = 44 \} \}
expect-match: truth: \{ o = \{ variant = None \(1\) \} \}
expect-match: truth: \{ o = \{ variant = Some \(0\), Some = true \} \}
expect-match: result: \{ r = \{ variant = Ok \(0\), Ok = 3 \} \}
expect-match: result: \{ r = \{ variant = Err \(1\), Err = 4 \} \}
expect-match: shape: \{ s = \{ variant = Dot \(0\) \} \}
expect-match: shape: \{ s = \{ variant = Circle \(1\), Circle = 5 \} \}
expect-match: shape: \{ s = \{ variant = Rect \(2\), Rect = \{ w = 2, h = 3 \} \} \}

case: enums in registers, opt-level 3
needs: rustc
until: alone
run: blip trace --args --function variants::word --function variants::byte --function variants::truth --function variants::result --function variants::shape -- $TARGETS/variants_O3
expect-match: word: \{ o = \{ variant = None \(0\) \} \}
expect-match: word: \{ o = \{ variant = Some \(1\), Some = 42 \} \}
expect-match: byte: \{ o = \{ variant = None \(0\) \} \}
expect-match: byte: \{ o = \{ variant = Some \(1\), Some = 44 \} \}
expect-match: truth: \{ o = \{ variant = None \(1\) \} \}
expect-match: truth: \{ o = \{ variant = Some \(0\), Some = true \} \}
expect-match: result: \{ r = \{ variant = Ok \(0\), Ok = 3 \} \}
expect-match: result: \{ r = \{ variant = Err \(1\), Err = 4 \} \}
expect-match: shape: \{ s = \{ variant = Dot \(0\) \} \}
expect-match: shape: \{ s = \{ variant = Circle \(1\), Circle = 5 \} \}
expect-match: shape: \{ s = \{ variant = Rect \(2\), Rect = \{ w = 2, h = 3 \} \} \}
