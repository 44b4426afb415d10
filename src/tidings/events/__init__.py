"""The event algebra and rule engine: occurrences, their composition, and rules on them (004 §6.2;
Snoop, SnoopIB).

Occurrences are combined by operators (`expression`) in one of four contexts (`node`); rules
subscribe to detections (`rule`); `engine` joins all: no thread, clock or I/O; time comes in as an
argument, state goes out as plain JSON.
"""
