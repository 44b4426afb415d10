"""The common tongue: frozen nouns without behaviour beyond their validity."""
