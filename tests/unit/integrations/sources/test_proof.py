"""A delivery proves that its source sent it, or is answered 401."""

import base64
import hashlib
import hmac
import json
import socket
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from services.integrations.sources.delivery_reader import DeliveryReader
from services.integrations.sources.proof import Credentials, WebhookRequest, WrongSignatureError
from services.integrations.sources.settings import WebhookSettings
from services.integrations.sources.sns import (
    CertificateUnavailableError,
    SnsProof,
    SubscriptionRefusedError,
    check_address,
    fetch,
    signed_text,
)
from services.integrations.sources.source import UnreadableTicketError
from services.kit.errors import FlowXpertError
from services.kit.http.server import ServerThread
from services.tickets.settings import GatewaySettings

SECRET = "a secret of the source"
PLATFORM_KEY = "the key of the platform"
TOKEN_SOURCES = ["alertmanager", "opsgenie", "servicenow", "datadog", "cloudwatch", "zabbix"]
BODY = b'{"nothing": "that tells of a fault"}'
TICKET = json.dumps({"title": "Fan failed", "id": 1}).encode()
CERTIFICATE = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0a1b.pem"
TOPIC = "arn:aws:sns:eu-west-1:111122223333:ops"


def reader(**settings):
    return DeliveryReader(
        GatewaySettings(_env_file=None), WebhookSettings(_env_file=None, **settings)
    )


def received(configured, request, source):
    return configured.receive(configured.authenticate(request, source))


def receive(source, headers, raw=BODY, **settings):
    configured_reader = reader(**{f"{source}_secret": SECRET}, **settings)
    return received(configured_reader, WebhookRequest(raw, headers), source)


def signature(raw=BODY, secret=SECRET):
    return hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()


def basic(password):
    return "Basic " + base64.b64encode(f"someone:{password}".encode()).decode()


SIGNED = [
    ("pagerduty", {"x-pagerduty-signature": f"v1={signature()}"}),
    ("pagerduty", {"x-pagerduty-signature": f"v1={'0' * 64}, v1={signature()}"}),
    ("jira", {"x-hub-signature": f"sha256={signature()}"}),
    ("jira", {"authorization": f"Bearer {SECRET}"}),
    ("sentry", {"sentry-hook-signature": signature()}),
    ("grafana", {"x-grafana-alerting-signature": signature()}),
    ("grafana", {"authorization": basic(SECRET)}),
    ("generic", {"x-hub-signature-256": f"sha256={signature()}"}),
    ("generic", {"x-flowxpert-token": SECRET}),
    *[(source, {"authorization": f"Bearer {SECRET}"}) for source in TOKEN_SOURCES],
    *[(source, {"authorization": basic(SECRET)}) for source in TOKEN_SOURCES],
]
UNSIGNED = [
    ("pagerduty", {}),
    ("pagerduty", {"x-pagerduty-signature": signature()}),
    ("pagerduty", {"x-pagerduty-signature": f"v1={signature(secret='another')}"}),
    ("pagerduty", {"x-pagerduty-signature": f"v1={signature(raw=b'another')}"}),
    ("pagerduty", {"x-pagerduty-signature": "v1=,v1=ü,,"}),
    ("pagerduty", {"authorization": f"Bearer {SECRET}"}),
    ("jira", {"x-hub-signature": f"sha1={signature()}"}),
    ("jira", {"x-hub-signature": "sha256=0", "authorization": f"Bearer {SECRET}"}),
    ("sentry", {"sentry-hook-signature": ""}),
    ("sentry", {"sentry-hook-signature": signature()[:-1]}),
    ("grafana", {"x-grafana-alerting-signature": "0"}),
    ("grafana", {}),
    ("generic", {"x-flowxpert-token": SECRET + "x"}),
    ("zabbix", {"authorization": "Basic not-base64"}),
    ("zabbix", {"authorization": "Basic " + base64.b64encode(b"\xff\xfe").decode()}),
    ("zabbix", {"authorization": f"Digest {SECRET}"}),
    ("zabbix", {"authorization": "Bearer "}),
    *[(source, {}) for source in TOKEN_SOURCES],
]


@pytest.mark.parametrize(("source", "headers"), SIGNED)
def test_a_delivery_that_shows_the_secret_is_read(source, headers):
    with pytest.raises(UnreadableTicketError):  # let in, and then no ticket
        receive(source, headers)


@pytest.mark.parametrize(("source", "headers"), UNSIGNED)
def test_a_delivery_that_does_not_is_refused(source, headers):
    with pytest.raises(WrongSignatureError) as refused:
        receive(source, headers)
    assert refused.value.status_code == 401
    assert SECRET not in str(refused.value)


def test_a_refused_delivery_is_not_even_parsed():
    with pytest.raises(WrongSignatureError):
        receive("pagerduty", {}, raw=b"{")


def test_a_body_recognised_by_its_shape_must_prove_itself_too():
    with pytest.raises(WrongSignatureError):
        received(reader(generic_secret=SECRET), WebhookRequest(TICKET, {}), None)


def test_a_source_without_a_secret_is_read_as_before():
    assert received(reader(), WebhookRequest(TICKET, {}), "generic").tickets


@pytest.mark.parametrize(("age", "is_taken"), [(0, True), (200, True), (400, False), (-400, False)])
def test_a_time_that_grafana_signs_must_be_of_now(age, is_taken):
    seconds = str(int(time.time()) - age)
    signed = signature(seconds.encode() + b":" + BODY)
    headers = {
        "x-grafana-alerting-signature": signed,
        "x-grafana-alerting-signature-timestamp": seconds,
    }
    with pytest.raises(FlowXpertError) as refused:
        receive("grafana", headers)
    assert refused.value.status_code == (422 if is_taken else 401)


def test_a_signed_address_needs_no_key_of_the_platform_and_others_do(make_gateway):
    secrets = {"generic_secret": SECRET}
    client = make_gateway(webhooks=secrets, api_key=PLATFORM_KEY).client
    json_type = {"content-type": "application/json"}
    signed = {"x-hub-signature-256": f"sha256={signature(TICKET)}", **json_type}
    wrong = {"x-hub-signature-256": f"sha256={signature(TICKET, 'another')}", **json_type}

    def post(path, headers):
        return client.post(path, content=TICKET, headers=headers).status_code

    assert post("/workflow/generic", signed) == 202
    assert post("/workflow/generic", wrong) == 401
    assert post("/workflow/generic", json_type) == 401
    assert post("/workflow/zabbix", signed) == 401
    assert post("/workflow", signed) == 401
    assert client.get("/v1/tickets").status_code == 401
    assert client.get("/workflow/generic").status_code in {401, 405}
    assert (
        len(client.get("/v1/tickets", headers={"x-api-key": PLATFORM_KEY}).json()["tickets"]) == 1
    )


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("/workflow/pagerduty", ""),
        ("/workflow/generic", "x-flowxpert-token: guessed"),
        ("/workflow", ""),
        ("/workflow/generic", "x-hub-signature-256: sha256=00"),
    ],
    ids=["no proof", "wrong token", "no source", "a signature that covers what has not come"],
)
def test_slow_bodies_without_proof_shut_no_signed_delivery_out(make_gateway, path, header):
    secrets = {"generic_secret": SECRET, "pagerduty_secret": SECRET}
    app = make_gateway(webhooks=secrets, api_key=PLATFORM_KEY).client.app
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", header]
    request = "\r\n".join([*filter(None, lines), "Content-Length: 1999999", "", "{"]).encode()
    server = ServerThread(app, host="127.0.0.1", port=0)
    server.start()
    address = httpx.URL(server.url)
    with ExitStack() as slow:
        for _ in range(34):
            opened = socket.create_connection((address.host, address.port), timeout=5)
            slow.enter_context(opened).sendall(request)
        if "sha256" not in header:  # it is refused while its body is still to come
            assert b" 401 " in opened.makefile("rb").readline()
        signed = {"x-hub-signature-256": f"sha256={signature(TICKET)}"}
        answer = httpx.post(
            f"{server.url}/workflow/generic",
            content=TICKET,
            headers=signed | {"content-type": "application/json"},
        )
    server.stop()
    assert answer.status_code == 202, answer.text


KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def certificate():
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    builder = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=KEY.public_key(),
        serial_number=1,
        not_valid_before=datetime.now(UTC) - timedelta(days=1),
        not_valid_after=datetime.now(UTC) + timedelta(days=1),
    )
    return builder.sign(KEY, SHA256()).public_bytes(Encoding.PEM)


PEM = certificate()


def envelope(version="2", **changes):
    message = {
        "Type": "Notification",
        "MessageId": "m-1",
        "TopicArn": TOPIC,
        "Subject": "ALARM",
        "Message": json.dumps({"AlarmName": "Backlog", "NewStateValue": "ALARM"}),
        "Timestamp": "2025-02-03T04:05:07.000Z",
        "SignatureVersion": version,
        "SigningCertURL": CERTIFICATE,
        "SubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription",
        "Token": "t",
        **changes,
    }
    hashing = SHA1() if version == "1" else SHA256()
    signed = KEY.sign(signed_text(message), padding.PKCS1v15(), hashing)
    return message | {"Signature": base64.b64encode(signed).decode()}


def check(message, topics=(TOPIC,), pem=PEM):
    proof = SnsProof(fetch=lambda url: pem)
    raw = json.dumps(message).encode()
    proof(WebhookRequest(raw, {}), Credentials(SECRET, frozenset(topics)))


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_message_that_sns_signed_is_taken(version):
    check(envelope(version))


@pytest.mark.parametrize(
    "changes",
    [
        {"Message": "another"},
        {"TopicArn": TOPIC + "x"},
        {"SigningCertURL": CERTIFICATE.replace(".com", ".com.evil.example")},
        {"SigningCertURL": CERTIFICATE.replace("https", "http")},
        {"SigningCertURL": CERTIFICATE.replace(".com", ".com:8443")},
        {"SigningCertURL": CERTIFICATE.replace("sns.", "x@sns.")},
        {"SigningCertURL": CERTIFICATE.replace("eu-west-1", "s3")},
        {"SigningCertURL": CERTIFICATE.replace("eu-west-1", "s3-eu-west-1")},
        {"SigningCertURL": f"{CERTIFICATE}?Action=GetEndpointAttributes"},
        {"SigningCertURL": "https://sns.eu-west-1.amazonaws.com/?Action=GetEndpointAttributes"},
        {"SigningCertURL": "https://169.254.169.254/a.pem"},
        {"SigningCertURL": "https://["},
        {"SigningCertURL": 5},
        {"SignatureVersion": "3"},
        {"SignatureVersion": "1"},
        {"Signature": "!"},
        {"Signature": ""},
    ],
)
def test_a_message_that_sns_did_not_sign_so_is_refused(changes):
    with pytest.raises(WrongSignatureError):
        check(envelope() | changes)


def test_a_certificate_that_is_none_is_refused():
    with pytest.raises(WrongSignatureError):
        check(envelope(), pem=b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n")


def test_what_comes_without_an_envelope_shows_the_token():
    with pytest.raises(WrongSignatureError):
        check({"AlarmName": "Backlog", "NewStateValue": "ALARM"})


def test_nothing_is_fetched_from_elsewhere():
    for url in ("http://127.0.0.1/", "https://example.org/", "https://sns.amazonaws.com/", ""):
        with pytest.raises(WrongSignatureError):
            fetch(url)
    check_address("https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem")


def confirmation(**changes):
    return json.dumps(envelope(Type="SubscriptionConfirmation", **changes)).encode()


def test_a_subscription_is_not_confirmed_unasked():
    with pytest.raises(SubscriptionRefusedError) as refused:
        received(reader(), WebhookRequest(confirmation(), {}), "cloudwatch")
    assert refused.value.status_code == 403


def test_a_subscription_of_another_topic_is_not_confirmed():
    with pytest.raises(SubscriptionRefusedError):
        received(reader(sns_confirm=True), WebhookRequest(confirmation(), {}), "cloudwatch")


def test_an_allowed_subscription_is_confirmed_at_the_address_that_sns_signed():
    fetched = []
    proof = SnsProof(fetch=lambda url: fetched.append(url) or PEM)
    proof.confirm(json.loads(confirmation()))
    assert fetched == [envelope()["SigningCertURL"], envelope()["SubscribeURL"]]
    with pytest.raises(WrongSignatureError):
        proof.confirm(json.loads(confirmation()) | {"SubscribeURL": "https://example.org/"})
    assert len(fetched) == 3  # the certificate, and nothing else


def test_sns_is_taken_though_it_calls_its_json_text(make_gateway):
    gateway = make_gateway()
    headers = {
        "content-type": "text/plain; charset=UTF-8",
        "x-amz-sns-message-type": "Notification",
    }
    answer = gateway.client.post(
        "/workflow/cloudwatch", content=json.dumps(envelope()), headers=headers
    )
    assert answer.status_code == 202


def test_an_unreachable_certificate_is_for_later():
    def unreachable(url):
        raise CertificateUnavailableError("no answer")

    with pytest.raises(CertificateUnavailableError) as failed:
        SnsProof(fetch=unreachable).check_signature(envelope())
    assert failed.value.status_code == 503
