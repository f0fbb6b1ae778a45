"""The issuer as a client of the code flow sees it: where it asks people, and codes for tokens."""

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
    """Safe to share between threads."""

    def __init__(self, settings: OidcSettings, answers: IssuerAnswers | None = None) -> None:
        """`settings` must name an issuer and a client."""
        self._settings = settings
        self._answers = answers or IssuerAnswers()
        self._document: Mapping[str, Any] = {}

    def asking_url(self, *, state: str, nonce: str, challenge: str, redirect_uri: str) -> str:
        """Where the browser goes to say who its user is.

        Raises:
            SignInError: The issuer does not tell where.
        """
        url = self._address("authorization_url", "authorization_endpoint")
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
        """What the issuer gives for a code.

        Raises:
            SignInError: It does not answer, or does not take the code.
        """
        url = self._address("token_url", "token_endpoint")
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
            status, found = self._answers.post(url, form, user=user)
        except (httpx.HTTPError, ValueError) as error:
            raise _away(url, error) from error
        if status == 200 and isinstance(found, dict):
            return found
        said = found.get("error") if isinstance(found, dict) else None
        tell_refusal("kit.code_not_taken", said, status=status)
        raise SignInError(Problem.ISSUER_AWAY if status >= 500 else Problem.ISSUER_ERROR)

    def _address(self, setting: str, name: str) -> str:
        """As it is set, else as the issuer's own document says.

        Raises:
            SignInError: Neither tells a safe one.
        """
        given = getattr(self._settings, setting)
        if given is not None:
            return str(given)
        issuer = str(self._settings.issuer)
        url = issuer.rstrip("/") + _DOCUMENT
        if not self._document:
            self._document = self._fetched(url, issuer)
        found = self._document.get(name)
        if not isinstance(found, str) or not is_safe_address(found):
            raise _away(url, ValueError(f"it names no {name}"))
        return found

    def _fetched(self, url: str, issuer: str) -> Mapping[str, Any]:
        if not is_safe_address(url):
            raise _away(url, ValueError("it must be https, or http on loopback"))
        try:
            found = self._answers.get(url)
        except (httpx.HTTPError, ValueError) as error:
            raise _away(url, error) from error
        if not isinstance(found, dict) or found.get("issuer") != issuer:
            raise _away(url, ValueError("it is the document of another issuer"))
        return found


def tell_refusal(event: str, said: object, **more: object) -> None:
    """Log the code of an issuer's error, and nothing else that it may hold."""
    code = said if isinstance(said, str) and _CODE_OF_ERROR.match(said) else "no code"
    _log.warning(event, error=code, **more)


def _away(url: str, error: Exception) -> SignInError:
    _log.warning("kit.issuer_unavailable", url=url, reason=str(error)[:200] or type(error).__name__)
    return SignInError(Problem.ISSUER_AWAY)
