"""Events: what happened, what that amounts to, and what is to be done about it (004 §6.2; Snoop, SnoopIB).

Occurrences are joined by operators (`expression`) in one of four contexts (`node`); rules hang on what is detected
(`rule`); `engine` is the whole: no thread, clock or I/O, time comes in as an argument, state goes out as plain JSON.
"""
