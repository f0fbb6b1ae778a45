"""Pages to sign in, the redirects to the issuer and back, and signing out."""

import hashlib
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Scope

from services.kit.access.access import Access
from services.kit.access.caller import Caller
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.needs import Need, needs
from services.kit.access.sessions.sessions import SessionEndedError
from services.kit.errors import UnavailableError
from services.kit.sign_in.flow import HOME, WITHIN_S, CallbackParams, SignIn, safe_page
from services.kit.sign_in.problems import Problem, SignInError
from services.web.ui.forms import form_route
from services.web.ui.templates import error_page, render

_SEE_OTHER = 303

_Text = Annotated[str, Query(max_length=4000)]
_NextUrl = Annotated[str, Query(alias="next", max_length=4000)]


class SignInPages:
    """Pages that sign browsers in and out."""

    def __init__(self, access: Access, sign_in: SignIn | None) -> None:
        """Create the pages; without `sign_in` there is no issuer to redirect to."""
        self._access = access
        self._sign_in = sign_in
        self._issuer = sign_in.name if sign_in else ""

    def refusal(self, scope: Scope, status: int, body: Mapping[str, str]) -> HTMLResponse:
        """Render the page of a refusal; one for a missing sign-in offers to sign in."""
        if status != 401:
            return error_page(status, body)
        is_new = body["error"] == "MissingCredentialError"
        wanted = HOME
        if scope["method"] == "GET":
            query = scope.get("query_string", b"").decode("latin-1")
            path = scope.get("raw_path", b"").decode("latin-1").partition("?")[0] or HOME
            wanted = safe_page(f"{path}?{query}" if query else path)
        return self._page(
            "Say who you are to see this page." if is_new else body["detail"],
            wanted,
            401,
            is_problem=not is_new,
        )

    def router(self) -> APIRouter:  # noqa: C901 - a list of routes
        """Build the router of the pages."""
        router = APIRouter(include_in_schema=False)

        @router.get("/sign-in")
        @form_route()
        @needs(Need.SIGN_IN)
        def sign_in_page(request: Request, wanted: _NextUrl = "", problem: _Text = "") -> Response:
            """Show the page to sign in, and as whom the reader is signed in."""
            place = safe_page(wanted)
            if not self._access.is_on:
                return RedirectResponse(place, _SEE_OTHER)
            refusal = Problem(problem) if problem in set(Problem) else None
            who = self._session_caller(request)
            words = (
                refusal.words(self._issuer) if refusal else "You can sign in as somebody else here."
            )
            if refusal is None and who is None:
                words = "FlowXpert shows what it knows to those who say who they are."
            status = refusal.status if refusal else 200
            return self._page(words, place, status, is_problem=refusal is not None, who=who)

        @router.get("/sign-in/begin")
        @form_route()
        @needs(Need.SIGN_IN)
        def begin_sign_in(request: Request, wanted: _NextUrl = "") -> Response:
            """Redirect to the issuer: a link leads here, since our policy lets no form leave."""
            if self._sign_in is None:
                return RedirectResponse("/sign-in", _SEE_OTHER)
            try:
                begun = self._sign_in.begin(
                    wanted, scheme=request.scope["scheme"], host=request.headers.get("host", "")
                )
            except SignInError as error:
                return _redirect_to_problem(error.problem, safe_page(wanted))
            answer = _redirect(begun.url)
            self._access.cookies.write(
                request.scope, answer, _cookie_name(begun.state), begun.browser, WITHIN_S
            )
            return answer

        @router.get("/sign-in/callback")
        @form_route()
        @needs(Need.SIGN_IN)
        def end_sign_in(
            request: Request,
            state: _Text = "",
            code: _Text = "",
            error: _Text = "",
            iss: _Text = "",
        ) -> Response:
            """Finish the sign-in after the issuer; nothing from the address is shown or stored."""
            if self._sign_in is None or self._access.sessions is None:
                return RedirectResponse("/sign-in", _SEE_OTHER)
            cookies, name = self._access.cookies, _cookie_name(state)
            returned = CallbackParams(state, code, error, iss)
            try:
                person, place = self._sign_in.finish(returned, cookies.read(request.scope, name))
            except SignInError as refused:
                answer: Response = _redirect_to_problem(refused.problem, refused.leads_to)
            else:
                old = cookies.session(request.scope) or ""
                answer = self._with_session(
                    request, self._access.sessions.begin(person, instead_of=old), place
                )
            cookies.write(request.scope, answer, name, "", 0)
            return answer

        @router.post("/sign-in/key")
        @form_route()
        @needs(Need.SIGN_IN)
        def sign_in_with_key(
            request: Request,
            key: Annotated[str, Form(max_length=400)] = "",
            wanted: Annotated[str, Form(alias="next", max_length=4000)] = "",
        ) -> Response:
            """Begin the session of a key; the key itself goes no further."""
            place = safe_page(wanted)
            if self._access.sessions is None or not self._access.is_on:
                return RedirectResponse(place, _SEE_OTHER)
            old = self._access.cookies.session(request.scope) or ""
            try:
                session_id = self._access.sessions.begin_with_key(key.strip(), instead_of=old)
            except WrongCredentialError:
                words = Problem.KEY.words()
                return self._page(words, place, Problem.KEY.status, is_problem=True)
            return self._with_session(request, session_id, place)

        @router.post("/sign-out")
        @form_route()
        @needs(Need.SIGN_IN)
        def sign_out(request: Request) -> Response:
            """End the session here; the one at the issuer is the issuer's."""
            session_id = self._access.cookies.session(request.scope)
            if session_id and self._access.sessions is not None:
                self._access.sessions.end(session_id)
            answer = _redirect("/sign-in")
            self._access.cookies.drop_session(request.scope, answer)
            return answer

        return router

    def _session_caller(self, request: Request) -> Caller | None:
        session_id = self._access.cookies.session(request.scope)
        if not session_id or self._access.sessions is None:
            return None
        try:
            return self._access.sessions.caller(session_id)
        except SessionEndedError:
            return None

    def _with_session(self, request: Request, session_id: str, place: str) -> Response:
        answer = _redirect(place)
        age_s = int(self._access.settings.session_s)
        self._access.cookies.set_session(request.scope, answer, session_id, age_s)
        return answer

    def _page(
        self,
        words: str,
        place: str,
        status: int,
        *,
        is_problem: bool = False,
        who: Caller | None = None,
    ) -> HTMLResponse:
        try:
            takes_keys = self._access.accepts_keys
        except UnavailableError:
            takes_keys = True
        return render(
            "sign_in/page.html",
            status_code=status,
            words=words,
            next=place,
            issuer=self._issuer,
            takes_keys=takes_keys,
            is_problem=is_problem,
            who=who,
        )


def _cookie_name(state: str) -> str:
    """Return the name of the cookie of one sign-in: a browser may begin several in its tabs."""
    return f"flowxpert-sign-in-{hashlib.sha256(state.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _redirect_to_problem(problem: Problem, place: str) -> RedirectResponse:
    """Redirect to the page to sign in, which says what went wrong.

    The address holds nothing of the issuer.
    """
    return _redirect("/sign-in?" + urlencode({"problem": problem.value, "next": place}))


def _redirect(url: str) -> RedirectResponse:
    return RedirectResponse(url, _SEE_OTHER, headers={"cache-control": "no-store"})
