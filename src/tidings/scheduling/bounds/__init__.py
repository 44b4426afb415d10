"""What no schedule can beat, so that one can say how near it comes (bid §6; scheduling §9)."""
