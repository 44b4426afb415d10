"""How a sentinel comes to be, is altered and ends: from a text to rows, all statements or none. Steps that fell due are taken in their order,
each with its own instant. Nothing here polls or notifies by itself.
"""
