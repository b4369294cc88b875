# SPDX-License-Identifier: Apache-2.0
"""What tools/package makes: see docs/packages.md."""
