"""Reasons for a failed sign-in, each with the text of its page."""

from enum import StrEnum

from services.kit.errors import FlowXpertError


class Problem(StrEnum):
    """Reason for a failed sign-in, by its name in the page's URL."""

    STALE = "stale"
    ELSEWHERE = "elsewhere"
    DENIED = "denied"
    ISSUER_AWAY = "issuer-away"
    ISSUER_ERROR = "issuer-error"
    NOT_TAKEN = "not-taken"
    KEY = "key"

    def words(self, issuer: str = "") -> str:
        """Return the text for the person, who knows the issuer by this name."""
        return _WORDS[self].format(issuer=issuer or "the issuer")

    @property
    def status(self) -> int:
        """HTTP status of the page."""
        return {Problem.ISSUER_AWAY: 503, Problem.ISSUER_ERROR: 503}.get(self, 401)


_WORDS = {
    Problem.STALE: "This sign-in is over: it was used already, or took longer than ten minutes. "
    "Begin a new one.",
    Problem.ELSEWHERE: "This sign-in was begun in another browser or at another address, so it "
    "was not taken. Begin a new one here.",
    Problem.DENIED: "{issuer} did not let you in. Sign in again there, perhaps as somebody else, "
    "or ask those who look after it.",
    Problem.ISSUER_AWAY: "{issuer} does not answer, so nobody can sign in there now. Try again in "
    "a minute; with a key you get in without it.",
    Problem.ISSUER_ERROR: "{issuer} answered that it cannot sign you in. Try again; if it stays "
    "so, FlowXpert's log has the error that it names.",
    Problem.NOT_TAKEN: "What {issuer} said of you could not be taken: it was not signed by it, not "
    "for FlowXpert, too old, or the clocks differ. Try again; FlowXpert's log says which.",
    Problem.KEY: "This key is unknown, revoked or expired. Look whether all of it was pasted.",
}


class SignInError(FlowXpertError):
    """The sign-in failed."""

    status_code = 401

    def __init__(self, problem: Problem, leads_to: str = "/") -> None:
        """Take the problem and the page that was wanted."""
        super().__init__(problem.words())
        self.problem = problem
        self.leads_to = leads_to
