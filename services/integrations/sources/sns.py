"""Amazon SNS: the envelope of a notification, its signature, and a subscription's confirmation.

https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import httpx
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, HashAlgorithm
from cryptography.x509 import load_pem_x509_certificate

from services.integrations.sources.bodies import parse_json
from services.integrations.sources.fields import line
from services.integrations.sources.proof import (
    Credentials,
    WebhookRequest,
    WrongSignatureError,
    by_token,
)
from services.kit.access.gate import Buckets
from services.kit.egress.addresses import ForbiddenAddressError
from services.kit.egress.bounded import BoundedTransport
from services.kit.errors import ForbiddenError, TooManyRequestsError, UnavailableError

TYPE_HEADER = "x-amz-sns-message-type"
FETCH_WITHIN_S = 5.0

_HOST = re.compile(r"sns\.[a-z]{2,8}(-[a-z]{2,12}){1,3}-[0-9]{1,2}\.amazonaws\.com(\.cn)?")
"""Host of a region: `sns.s3.amazonaws.com` is a bucket of whoever made it."""
_CERTIFICATE = re.compile(r"/SimpleNotificationService-[0-9A-Za-z]{1,64}\.pem")
"""Path of a certificate: an API of the same host answers with texts of others."""
_NOTIFICATION = "Notification"
_CONFIRMATIONS = ("SubscriptionConfirmation", "UnsubscribeConfirmation")
_SIGNED = {
    _NOTIFICATION: ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    **dict.fromkeys(
        _CONFIRMATIONS,
        ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    ),
}
_HASHES: dict[str, HashAlgorithm] = {"1": SHA1(), "2": SHA256()}  # noqa: S303 - SNS' version 1

_MOST_BYTES = 100_000
_FETCHES, _FETCHES_LOCK = Buckets(per_s=0.2, burst=10), Lock()
"""Rate of fetches: whoever knows a topic may name as many addresses as they like."""

Fetch = Callable[[str], bytes]


class SubscriptionRefusedError(ForbiddenError):
    """SNS asks to confirm a subscription that the settings do not allow."""


class CertificateUnavailableError(UnavailableError):
    """The certificate that SNS signs with, or a confirmation's address, did not answer."""


def is_envelope(body: Mapping[str, Any]) -> bool:
    """Return True for a message as SNS posts it."""
    return line(body, "Type") in _SIGNED and "TopicArn" in body and "Message" in body


def is_confirmation(body: Mapping[str, Any]) -> bool:
    """Return True if SNS asks whether this address wants a topic's messages."""
    return body.get("Type") in _CONFIRMATIONS


@lru_cache(maxsize=32)
def fetch(url: str) -> bytes:
    """Fetch what is at an address of AWS SNS, once; no redirect is followed.

    Raises:
        WrongSignatureError: The address is no such.
        CertificateUnavailableError: It did not answer, or many others were fetched just now.
    """
    check_address(url)
    content = b""
    transport = BoundedTransport(allow_private=False, within_s=FETCH_WITHIN_S)
    try:
        with _FETCHES_LOCK:
            _FETCHES.take("")
        with (
            httpx.Client(transport=transport, timeout=FETCH_WITHIN_S) as client,
            client.stream("GET", url) as answer,
        ):
            for part in answer.iter_bytes():
                content += part
                if len(content) > _MOST_BYTES:
                    raise CertificateUnavailableError("AWS SNS answered with too much")
    except TooManyRequestsError as error:
        raise CertificateUnavailableError("many certificates were fetched just now") from error
    except (httpx.HTTPError, ForbiddenAddressError) as error:
        raise CertificateUnavailableError(f"AWS SNS did not answer: {error}") from error
    if answer.status_code != 200:
        raise CertificateUnavailableError(f"AWS SNS answered {answer.status_code}")
    return content


def check_address(url: str, path: re.Pattern[str] | None = None) -> None:
    """Check that an address is https on a host of AWS SNS, and its path one of these.

    Raises:
        WrongSignatureError: It is another address.
    """
    try:
        parts = urlsplit(url)
        is_sns = parts.scheme == "https" and parts.port in {None, 443} and not parts.username
        host = parts.hostname or ""
    except ValueError:
        is_sns, host = False, ""
    if not is_sns or not _HOST.fullmatch(host):
        raise WrongSignatureError("the message names an address that is no AWS SNS host")
    if path is not None and (parts.query or not path.fullmatch(parts.path)):
        raise WrongSignatureError("the message names an address that is no certificate of AWS SNS")


@dataclass(frozen=True)
class SnsProof:
    """Proof that SNS signed a message of a known topic; without an envelope, the token."""

    fetch: Fetch = fetch

    def __call__(self, received: WebhookRequest, credentials: Credentials) -> None:
        """Check the delivery.

        Raises:
            WrongSignatureError: It is not signed so, or of another topic, or has no token.
            CertificateUnavailableError: The certificate could not be fetched.
        """
        body = parse_json(received.raw)
        if not credentials.topics or not isinstance(body, Mapping) or not is_envelope(body):
            by_token(received, credentials)
            return
        if line(body, "TopicArn") not in credentials.topics:
            raise WrongSignatureError("the message is of a topic that the settings do not name")
        self.check_signature(body)

    def check_headers(self, received: WebhookRequest, credentials: Credentials) -> None:
        """See `Proof`; SNS signs within the body."""
        if not credentials.topics:
            by_token(received, credentials)

    def check_signature(self, body: Mapping[str, Any]) -> None:
        """Check that SNS signed the message; raises as a call does."""
        url = line(body, "SigningCertURL", "SigningCertUrl")
        check_address(url, _CERTIFICATE)
        hashing = _HASHES.get(line(body, "SignatureVersion"))
        if hashing is None:
            raise WrongSignatureError("SignatureVersion: expected 1 or 2")
        try:
            signature = base64.b64decode(line(body, "Signature"), validate=True)
            key = load_pem_x509_certificate(self.fetch(url)).public_key()
            assert isinstance(key, RSAPublicKey)  # noqa: S101 - handled below as any other
            key.verify(signature, signed_text(body), PKCS1v15(), hashing)
        except (binascii.Error, ValueError, AssertionError) as error:
            raise WrongSignatureError("the signature or its certificate is none") from error
        except (InvalidSignature, UnsupportedAlgorithm) as error:
            raise WrongSignatureError("the message is not signed by AWS SNS") from error

    def confirm(self, body: Mapping[str, Any]) -> None:
        """Confirm the subscription if SNS signed it; raises as a call does."""
        self.check_signature(body)
        self.fetch(line(body, "SubscribeURL"))


def signed_text(body: Mapping[str, Any]) -> bytes:
    """Return the text that SNS signs: names and values of certain fields, each on a line."""
    fields = _SIGNED.get(line(body, "Type"), ())
    lines = [part for name in fields if name in body for part in (name, str(body[name]))]
    return "".join(f"{part}\n" for part in lines).encode("utf-8", "replace")
