"""An issuer of bearer tokens with keys made on the spot, and its JWKS over HTTP."""

import json
import time
from typing import Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

ISSUER = "https://login.example.org/realms/ops"
AUDIENCE = "flowxpert"


class Issuer:
    """Signs tokens; `document` is what its JWKS address answers."""

    def __init__(self) -> None:
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.document: Any = {"keys": [self.rsa_jwk("one"), self.ec_jwk("two")]}
        self.status = 200
        self.fetched = 0

    def rsa_jwk(self, key_id: str, **more: str) -> dict[str, Any]:
        made = json.loads(RSAAlgorithm.to_jwk(self.rsa.public_key()))
        return {**made, "kid": key_id, "use": "sig", **more}

    def ec_jwk(self, key_id: str) -> dict[str, Any]:
        return {**json.loads(ECAlgorithm.to_jwk(self.ec.public_key())), "kid": key_id}

    def claims(self, *roles: str, **more: Any) -> dict[str, Any]:
        now = int(time.time())
        own = {"iss": ISSUER, "aud": AUDIENCE, "sub": "u-1", "preferred_username": "ann"}
        return {**own, "iat": now, "exp": now + 300, "roles": list(roles), **more}

    def token(
        self, *roles: str, key_id: str | None = "one", algorithm: str = "RS256", **more: Any
    ) -> str:
        headers = {"kid": key_id} if key_id else {}
        key = self.ec if algorithm.startswith("ES") else self.rsa
        return jwt.encode(self.claims(*roles, **more), key, algorithm, headers)

    @property
    def app(self) -> Starlette:
        def keys(_request: Any) -> JSONResponse:
            self.fetched += 1
            return JSONResponse(self.document, self.status)

        return Starlette(routes=[Route("/jwks", keys)])

    def transport(self) -> httpx.MockTransport:
        """The same without a port."""

        def answer(_request: httpx.Request) -> httpx.Response:
            self.fetched += 1
            return httpx.Response(self.status, json=self.document)

        return httpx.MockTransport(answer)
