# SPDX-License-Identifier: MIT
"""The end-to-end runner: cases as data (cases), processes (process), visible state (state), readers (trace), steps."""
