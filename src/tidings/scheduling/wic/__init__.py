"""WIC, web information capture: poll where most utility has gathered (Pandey, Dhamdhere, Olston,
VLDB 2004).
"""
