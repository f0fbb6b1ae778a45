"""Ticket systems: one file each, and one line in the list."""

from services.gateway.sources.systems.alertmanager import ALERTMANAGER
from services.gateway.sources.systems.cloudwatch import CLOUDWATCH
from services.gateway.sources.systems.datadog import DATADOG
from services.gateway.sources.systems.generic import GENERIC
from services.gateway.sources.systems.grafana import GRAFANA
from services.gateway.sources.systems.jira import JIRA
from services.gateway.sources.systems.opsgenie import OPSGENIE
from services.gateway.sources.systems.pagerduty import PAGERDUTY
from services.gateway.sources.systems.sentry import SENTRY
from services.gateway.sources.systems.servicenow import SERVICENOW
from services.gateway.sources.systems.zabbix import ZABBIX

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
"""Sources with a shape of their own, in the order in which they are asked."""

LEAST_PARTICULAR = GENERIC
"""Source that is asked if no other, and no mapping, knows the body."""
