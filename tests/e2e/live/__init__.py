"""Applications on real libraries, each in a process of its own, with the processor attached."""
