"""Imports: what another program watches becomes sentinels of the language, and its history learned
rates.

`formats` knows each program's files and lists the readers: a module a program, which makes
`draft`s.
A reader says what each field becomes; `judge` lets the language decide whether that can be said.
`take_in` stores all of it in one transaction. Nothing of a file is run or fetched, and files may
come from anybody: `reading` opens them.
"""
