"""Complex user profiles: several pages within deadlines, revealed one by one (Roitman, Gal,
Raschid; paper 001).
"""
