"""What no schedule can beat, so that one can say how near it comes (bid_and_defaults §6; study of scheduling §0, 3)."""
