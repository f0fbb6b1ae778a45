"""Sign-in at an issuer: the code flow of OpenID Connect with PKCE, state and nonce.

A started sign-in is in the database, so that any process can finish it, and only once. The browser
that started it has a cookie; the URL carries the state alone.
"""

import base64
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog
from sqlalchemy import delete

from services.kit.access.access import Access
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.network import is_loopback
from services.kit.access.sessions.people import MOST_SUBJECT, Person
from services.kit.access.settings import OidcSettings, is_safe_address
from services.kit.errors import ForbiddenError, InvalidInputError, UnavailableError
from services.kit.settings import PlatformSettings
from services.kit.sign_in.issuer import IssuerClient, log_refusal
from services.kit.sign_in.problems import Problem, SignInError
from services.kit.sql.database import Database
from services.kit.tables import SignInRow

if TYPE_CHECKING:
    from services.kit.access.issuer.tokens import Tokens  # cryptography takes a while

WITHIN_S = 600
"""Seconds that a sign-in may take."""
CALLBACK = "/sign-in/callback"
HOME = "/"
_MOST_ADDRESS = 2000
_OURS = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*\Z")
"""Paths of visible ASCII without a backslash; two slashes would begin another host's name."""
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?\Z")
_DENIED = frozenset({"access_denied", "login_required", "interaction_required", "consent_required"})
_AWAY = frozenset({"server_error", "temporarily_unavailable"})

_log = structlog.get_logger()


class NoPublicAddressError(ForbiddenError):
    """The platform's public URL is not set, and a browser's word for it is not trusted."""


@dataclass(frozen=True)
class StartedSignIn:
    """A started sign-in: the URL for the browser, and the secrets to finish it."""

    url: str
    state: str
    browser: str


@dataclass(frozen=True)
class CallbackParams:
    """Parameters that the issuer sends the browser back with."""

    state: str = ""
    code: str = ""
    error: str = ""
    issuer: str = ""
    """Issuer (RFC 9207); empty if it is not stated."""


class SignIn:
    """Sign-ins at the configured issuer; thread-safe."""

    def __init__(
        self,
        database: Database,
        tokens: "Tokens",
        settings: OidcSettings,
        *,
        public_url: str | None = None,
        issuer: IssuerClient | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take settings, which must name an issuer and a client.

        Raises:
            InvalidInputError: The public address is none that a sign-in can lead back to.
        """
        self._database = database
        self._tokens = tokens
        self._settings = settings
        self._issuer = issuer or IssuerClient(settings)
        self._clock = clock
        self._origin = _origin(public_url) if public_url else None

    @classmethod
    def of(cls, platform: PlatformSettings, access: Access, database: Database) -> "SignIn | None":
        """Build it from the settings; None if they name no client of an issuer.

        Raises:
            InvalidInputError: The public address is none that a sign-in can lead back to.
        """
        settings = OidcSettings()
        if access.tokens is None or settings.client_id is None:
            return None
        public_url = str(platform.public_url) if platform.public_url else None
        return cls(database, access.tokens, settings, public_url=public_url)

    @property
    def name(self) -> str:
        """Host of the issuer, as its name for people."""
        return urlsplit(str(self._settings.issuer)).hostname or str(self._settings.issuer)

    def begin(self, wanted: str, *, scheme: str, host: str) -> StartedSignIn:
        """Start a sign-in for the page `wanted`, which the browser requested at this host.

        Raises:
            SignInError: The issuer does not state its authorization endpoint.
            NoPublicAddressError: Nothing says where the issuer is to send the browser back to.
        """
        origin = self._origin or _loopback_origin(scheme, host)
        state, browser, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(4))
        redirect_uri = origin + CALLBACK
        verifier_digest = hashlib.sha256(verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier_digest).rstrip(b"=").decode()
        url = self._issuer.authorization_url(
            state=state, nonce=nonce, challenge=challenge, redirect_uri=redirect_uri
        )
        row = SignInRow(
            state=_digest(state),
            browser=_digest(browser),
            nonce=nonce,
            verifier=verifier,
            redirect_uri=redirect_uri,
            leads_to=safe_page(wanted),
            expires_at=self._clock() + WITHIN_S,
        )
        with self._database.session() as session:
            session.execute(delete(SignInRow).where(SignInRow.expires_at <= self._clock()))
            session.add(row)
        return StartedSignIn(url, state, browser)

    def finish(self, returned: CallbackParams, browser: str | None) -> tuple[Person, str]:
        """Return the person who came back, and the page that was wanted.

        `browser` is the value of the browser's cookie.

        Raises:
            SignInError: They are not signed in; it says why.
            UnavailableError: The database did not answer.
        """
        is_it = SignInRow.state == _digest(returned.state), SignInRow.expires_at > self._clock()
        with self._database.session() as session:  # of two who come at once, one gets the row
            row = session.scalar(delete(SignInRow).where(*is_it).returning(SignInRow))
        if row is None:
            raise SignInError(Problem.STALE)
        if browser is None or not hmac.compare_digest(_digest(browser), row.browser):
            raise SignInError(Problem.ELSEWHERE)
        try:
            return self._person(returned, row), row.leads_to
        except SignInError as error:
            raise SignInError(error.problem, row.leads_to) from error
        except WrongCredentialError as error:
            _log.warning("kit.sign_in_not_taken", reason=str(error))
            raise SignInError(Problem.NOT_TAKEN, row.leads_to) from error
        except UnavailableError as error:
            raise SignInError(Problem.ISSUER_AWAY, row.leads_to) from error

    def _person(self, returned: CallbackParams, row: SignInRow) -> Person:
        if returned.issuer and returned.issuer != self._settings.issuer:
            raise WrongCredentialError("another issuer answered")
        if returned.error or not returned.code:
            log_refusal("kit.sign_in_refused", returned.error)
            if returned.error in _DENIED:
                raise SignInError(Problem.DENIED)
            is_away = returned.error in _AWAY
            raise SignInError(Problem.ISSUER_AWAY if is_away else Problem.ISSUER_ERROR)
        tokens = self._issuer.tokens_for(
            returned.code, verifier=row.verifier, redirect_uri=row.redirect_uri
        )
        claims = self._id_claims(tokens, row.nonce)
        subject = claims["sub"]
        if len(subject) > MOST_SUBJECT:
            raise WrongCredentialError(f"the subject has more than {MOST_SUBJECT} characters")
        roles = self._tokens.roles(claims)
        if roles is None:
            roles = self._tokens.roles(self._access_claims(tokens, subject))
        issuer = str(self._settings.issuer)
        return Person(issuer, subject, self._tokens.name(claims), roles or frozenset())

    def _id_claims(self, tokens: Mapping[str, Any], nonce: str) -> Mapping[str, Any]:
        """Return the claims of the ID token.

        Raises:
            WrongCredentialError: It is not the one that was requested.
        """
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise WrongCredentialError("the issuer gave no ID token")
        client_id = str(self._settings.client_id)
        claims = self._tokens.claims(token, client_id)
        claimed_nonce = claims.get("nonce")
        if not isinstance(claimed_nonce, str) or not hmac.compare_digest(
            claimed_nonce.encode(), nonce.encode()
        ):
            raise WrongCredentialError("the ID token is of another sign-in")
        is_for_others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if is_for_others else client_id) != client_id:
            raise WrongCredentialError("the ID token was given to another client")
        return claims

    def _access_claims(self, tokens: Mapping[str, Any], subject: str) -> Mapping[str, Any]:
        """Return the claims of the access token, if this platform accepts it as a bearer's."""
        token = tokens.get("access_token")
        if not isinstance(token, str) or token.count(".") != 2:
            return {}
        try:
            claims = self._tokens.claims(token, str(self._settings.audience))
        except WrongCredentialError as error:
            _log.info("kit.access_token_says_no_roles", reason=str(error))
            return {}
        return claims if claims["sub"] == subject else {}


def safe_page(wanted: str) -> str:
    """Return the page that a sign-in leads to: the requested one, or home if it is not ours."""
    is_ours = len(wanted) <= _MOST_ADDRESS and _OURS.match(wanted)
    leads_back = wanted.startswith(("/sign-in", "/sign-out"))
    return wanted if is_ours and not leads_back else HOME


def _origin(public_url: str) -> str:
    parts = urlsplit(public_url)
    if not is_safe_address(public_url) or parts.path not in {"", "/"} or parts.query:
        raise InvalidInputError(
            "FLOWXPERT_PUBLIC_URL must be https, or http on loopback, and have no path: the issuer "
            "sends people back to it"
        )
    return f"{parts.scheme}://{parts.netloc}"


def _loopback_origin(scheme: str, host: str) -> str:
    host_match = _HOST.match(host)
    if host_match is None or not is_loopback(host_match["name"]):
        raise NoPublicAddressError(
            "whoever runs FlowXpert has to set FLOWXPERT_PUBLIC_URL before people can sign in here"
        )
    return f"{scheme}://{host}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
