"""Sign-in: at an issuer by the code flow of OpenID Connect, or with a key."""
