"""Ticket systems: one file each, and one line in the list."""

from services.gateway.sources.alertmanager import ALERTMANAGER
from services.gateway.sources.cloudwatch import CLOUDWATCH
from services.gateway.sources.datadog import DATADOG
from services.gateway.sources.generic import GENERIC
from services.gateway.sources.grafana import GRAFANA
from services.gateway.sources.jira import JIRA
from services.gateway.sources.opsgenie import OPSGENIE
from services.gateway.sources.pagerduty import PAGERDUTY
from services.gateway.sources.sentry import SENTRY
from services.gateway.sources.servicenow import SERVICENOW
from services.gateway.sources.zabbix import ZABBIX

SOURCES = (
    GRAFANA,  # before Alertmanager, which it looks like
    ALERTMANAGER,
    PAGERDUTY,
    JIRA,
    OPSGENIE,
    SERVICENOW,
    CLOUDWATCH,
    SENTRY,
    ZABBIX,
    DATADOG,
)
"""Those with a shape of their own, in the order in which they are asked."""

LEAST_PARTICULAR = GENERIC
"""Asked when no other, and no mapping, knows the body."""
