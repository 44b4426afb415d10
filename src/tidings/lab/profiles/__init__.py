"""Complex user profiles: several pages within deadlines, learned of one by one (Roitman, Gal, Raschid; paper 001)."""
