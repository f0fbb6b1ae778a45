"""Ticket systems: one file each, and one line in the list."""

from services.integrations.sources.systems.alertmanager import ALERTMANAGER
from services.integrations.sources.systems.cloudwatch import CLOUDWATCH
from services.integrations.sources.systems.datadog import DATADOG
from services.integrations.sources.systems.generic import GENERIC
from services.integrations.sources.systems.grafana import GRAFANA
from services.integrations.sources.systems.jira import JIRA
from services.integrations.sources.systems.opsgenie import OPSGENIE
from services.integrations.sources.systems.pagerduty import PAGERDUTY
from services.integrations.sources.systems.sentry import SENTRY
from services.integrations.sources.systems.servicenow import SERVICENOW
from services.integrations.sources.systems.zabbix import ZABBIX

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
