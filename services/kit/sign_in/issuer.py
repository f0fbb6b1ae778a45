"""The issuer as a client of the code flow: its authorization and token endpoints."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import structlog

from services.kit.access.issuer.answers import IssuerAnswers
from services.kit.access.settings import OidcSettings, is_safe_address
from services.kit.sign_in.problems import Problem, SignInError

_DOCUMENT = "/.well-known/openid-configuration"
_CODE_OF_ERROR = re.compile(r"[a-z_]{1,60}\Z")

_log = structlog.get_logger()


class IssuerClient:
    """Client of the code flow; thread-safe."""

    def __init__(self, settings: OidcSettings, answers: IssuerAnswers | None = None) -> None:
        """Take settings, which must name an issuer and a client."""
        self._settings = settings
        self._answers = answers or IssuerAnswers()
        self._document: Mapping[str, Any] = {}

    def authorization_url(
        self, *, state: str, nonce: str, challenge: str, redirect_uri: str
    ) -> str:
        """Return the URL at which the browser's user authenticates.

        Raises:
            SignInError: The issuer does not state it.
        """
        url = self._endpoint("authorization_url", "authorization_endpoint")
        query = {
            "response_type": "code",
            "client_id": str(self._settings.client_id),
            "redirect_uri": redirect_uri,
            "scope": self._settings.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"

    def tokens_for(self, code: str, *, verifier: str, redirect_uri: str) -> Mapping[str, Any]:
        """Exchange a code for tokens.

        Raises:
            SignInError: The issuer does not answer, or does not accept the code.
        """
        url = self._endpoint("token_url", "token_endpoint")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        client_id, secret = str(self._settings.client_id), self._settings.client_secret
        user = None
        if secret is None:
            form["client_id"] = client_id
        else:  # RFC 6749, 2.3.1: encoded as in a form before they are encoded for Basic
            user = quote(client_id, safe=""), quote(secret.get_secret_value(), safe="")
        try:
            status, body = self._answers.post(url, form, user=user)
        except (httpx.HTTPError, ValueError) as error:
            raise _away(url, error) from error
        if status == 200 and isinstance(body, dict):
            return body
        error_code = body.get("error") if isinstance(body, dict) else None
        log_refusal("kit.code_not_taken", error_code, status=status)
        raise SignInError(Problem.ISSUER_AWAY if status >= 500 else Problem.ISSUER_ERROR)

    def _endpoint(self, setting: str, name: str) -> str:
        """Return an endpoint as configured, else as the issuer's own document states it.

        Raises:
            SignInError: Neither states a safe one.
        """
        configured = getattr(self._settings, setting)
        if configured is not None:
            return str(configured)
        issuer = str(self._settings.issuer)
        url = issuer.rstrip("/") + _DOCUMENT
        if not self._document:
            self._document = self._fetch_document(url, issuer)
        stated = self._document.get(name)
        if not isinstance(stated, str) or not is_safe_address(stated):
            raise _away(url, ValueError(f"it names no {name}"))
        return stated

    def _fetch_document(self, url: str, issuer: str) -> Mapping[str, Any]:
        if not is_safe_address(url):
            raise _away(url, ValueError("it must be https, or http on loopback"))
        try:
            document = self._answers.get(url)
        except (httpx.HTTPError, ValueError) as error:
            raise _away(url, error) from error
        if not isinstance(document, dict) or document.get("issuer") != issuer:
            raise _away(url, ValueError("it is the document of another issuer"))
        return document


def log_refusal(event: str, error: object, **more: object) -> None:
    """Log the code of an issuer's error, and nothing else that it may hold."""
    code = error if isinstance(error, str) and _CODE_OF_ERROR.match(error) else "no code"
    _log.warning(event, error=code, **more)


def _away(url: str, error: Exception) -> SignInError:
    _log.warning("kit.issuer_unavailable", url=url, reason=str(error)[:200] or type(error).__name__)
    return SignInError(Problem.ISSUER_AWAY)
