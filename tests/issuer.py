"""An issuer with keys made on the spot: its tokens, and over HTTP its JWKS and its code flow."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

ISSUER = "https://login.example.org/realms/ops"
AUDIENCE = "flowxpert"
CLIENT = "flowxpert-page"
CLIENT_SECRET = "what the issuer: and the page/share"


class Issuer:
    """Signs tokens; `document` is what its JWKS address answers.

    At `/authorize` whoever follows a link is signed in with the `person`'s claims, and sent back
    with a code that `/token` takes once, from the client that knows the verifier and the secret.
    """

    def __init__(self, name: str = ISSUER) -> None:
        self.name = name
        self.person: dict[str, Any] = {"roles": ["responder"]}
        self.answers: dict[str, str] = {}
        """What it sends back in place of a code, such as an error."""
        self.forge: Callable[[dict[str, Any]], str] | None = None
        """Makes another ID token than it should of these claims."""
        self.access: Callable[[], str] = lambda: "opaque"
        """Makes the access token."""
        self.is_public = False
        """Whether the client has no secret."""
        self.token_status = 200
        self.taken: list[dict[str, str]] = []
        """Forms that came to `/token`."""
        self._codes: dict[str, dict[str, str]] = {}
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
        own = {"iss": self.name, "aud": AUDIENCE, "sub": "u-1", "preferred_username": "ann"}
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

        return Starlette(
            routes=[
                Route("/jwks", keys),
                Route("/.well-known/openid-configuration", self._configuration),
                Route("/authorize", self._ask),
                Route("/token", self._give, methods=["POST"]),
            ]
        )

    def _configuration(self, request: Request) -> JSONResponse:
        base = str(request.base_url).rstrip("/")
        endpoints = {
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
        }
        return JSONResponse({"issuer": self.name, **endpoints})

    def _ask(self, request: Request) -> Response:
        parameters = dict(request.query_params)
        back = {"state": parameters["state"], "iss": self.name}
        if self.answers:
            back |= self.answers
        else:
            back["code"] = secrets.token_urlsafe(16)
            self._codes[back["code"]] = parameters
        url = f"{parameters['redirect_uri']}?{urlencode(back)}"
        if "text/html" in request.headers.get("accept", "") and self.shows_page:
            return HTMLResponse(
                f'<h1>Issuer</h1><a href="{url.replace("&", "&amp;")}">I am ann</a>'
            )
        return RedirectResponse(url, 303)

    shows_page = False
    """Whether a browser's user has to follow one more link."""

    async def _give(self, request: Request) -> JSONResponse:
        form = {
            name: values[0] for name, values in parse_qs((await request.body()).decode()).items()
        }
        self.taken.append(form)
        if self.token_status != 200:
            return JSONResponse({"error": "server_error"}, self.token_status)
        parameters = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        basic = request.headers.get("authorization", "").partition(" ")[2]
        name, _, secret = base64.b64decode(basic).decode().partition(":")
        knows = (unquote(name), unquote(secret)) == (CLIENT, CLIENT_SECRET)
        if self.is_public:
            knows = not basic and form.get("client_id") == CLIENT
        is_right = parameters and knows and parameters["redirect_uri"] == form.get("redirect_uri")
        if not is_right or parameters["code_challenge"] != challenge:
            return JSONResponse({"error": "invalid_grant"}, 400)
        claims = self.claims(aud=CLIENT, nonce=parameters["nonce"]) | self.person
        make = self.forge or self.signed
        return JSONResponse(
            {"access_token": self.access(), "token_type": "x", "id_token": make(claims)}
        )

    def signed(self, claims: dict[str, Any]) -> str:
        """The claims as a token."""
        return jwt.encode(claims, self.rsa, "RS256", {"kid": "one"})

    def transport(self) -> httpx.MockTransport:
        """The same without a port."""

        def answer(_request: httpx.Request) -> httpx.Response:
            self.fetched += 1
            return httpx.Response(self.status, json=self.document)

        return httpx.MockTransport(answer)
