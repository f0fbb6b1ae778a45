"""What each route of the platform needs of its caller: the one list of who may do what.

A test holds it against the routes of every app. A route that is missing here is for admins only.
Each deployable has a list of its name.
"""

from services.kit.access.needs import Need

GATEWAY = {
    "POST /workflow": Need.SIGNED,
    "POST /workflow/{source}": Need.SIGNED,
    "GET /v1/tickets": Need.READ,
    "GET /v1/tickets/{ticket_id}": Need.READ,
    "GET /v1/tickets/{ticket_id}/events": Need.READ,
    "GET /v1/events": Need.READ,
    "GET /v1/workflows/{workflow_id}": Need.READ,
    "GET /v1/workflows/{workflow_id}/candidates": Need.READ,
    "GET /v1/sources/{document_id:path}": Need.READ,
    "GET /v1/citations/{document_id:path}": Need.READ,
    "GET /v1/coverage": Need.READ,
    "GET /v1/tickets/{ticket_id}/clarifications": Need.READ,
    "POST /v1/tickets/{ticket_id}/clarifications/{clarification_id}/answers": Need.OPERATE,
    "POST /v1/tickets/{ticket_id}/clarifications/dismissals": Need.OPERATE,
    "POST /v1/tickets/{ticket_id}/retry": Need.OPERATE,
    "POST /v1/tickets/{ticket_id}/resolution": Need.OPERATE,
    "GET /v1/dead-letters": Need.ADMIN,
    "POST /v1/dead-letters/retry": Need.ADMIN,
    "GET /v1/audit": Need.ADMIN,
    # Tools that change something need `operate`, which each asks for.
    "POST /mcp": Need.READ,
    "GET /v1/teams": Need.READ,
    "POST /v1/teams": Need.ADMIN,
    "DELETE /v1/teams/{name}": Need.ADMIN,
    "POST /v1/triage/cases": Need.ADMIN,
    "POST /v1/tickets/{ticket_id}/triage": Need.OPERATE,
    "PUT /v1/tickets/{ticket_id}/team": Need.OPERATE,
    "GET /v1/workflows/{workflow_id}/work": Need.READ,
    "GET /v1/workflows/{workflow_id}/changes": Need.READ,
    "PUT /v1/workflows/{workflow_id}/steps/{step_id}/mark": Need.OPERATE,
    "PUT /v1/workflows/{workflow_id}/steps/{step_id}/judgement": Need.OPERATE,
    "PUT /v1/workflows/{workflow_id}/acceptance": Need.OPERATE,
    "POST /v1/workflows/{workflow_id}/versions": Need.OPERATE,
    "GET /v1/acceptance": Need.READ,
    "GET /": Need.READ,
    "GET /acceptance": Need.READ,
    "GET /tickets/{ticket_id}": Need.READ,
    "POST /tickets/{ticket_id}/clarifications/{clarification_id}/answers": Need.OPERATE,
    "POST /tickets/{ticket_id}/clarifications/dismissals": Need.OPERATE,
    "POST /tickets/{ticket_id}/retry": Need.OPERATE,
    "POST /tickets/{ticket_id}/resolution": Need.OPERATE,
    "POST /tickets/{ticket_id}/triage": Need.OPERATE,
    "POST /tickets/{ticket_id}/team": Need.OPERATE,
    "POST /tickets/{ticket_id}/workflows/{workflow_id}/marks": Need.OPERATE,
    "POST /tickets/{ticket_id}/workflows/{workflow_id}/judgements": Need.OPERATE,
    "POST /tickets/{ticket_id}/workflows/{workflow_id}/acceptance": Need.OPERATE,
    "POST /tickets/{ticket_id}/workflows/{workflow_id}/edits": Need.OPERATE,
    "GET /sources/{document_id:path}": Need.READ,
    # Public code; without it, the page of a refusal would have no style.
    "GET /static/{name}": Need.OPEN,
    "GET /knowledge/readings": Need.READ,
    "GET /knowledge/readings/{text_hash}": Need.READ,
    "POST /knowledge/readings/{text_hash}": Need.APPROVE,
    "POST /knowledge/readings/{text_hash}/approvals": Need.APPROVE,
    "POST /knowledge/readings/{text_hash}/answers": Need.APPROVE,
    "POST /knowledge/readings/{text_hash}/undo": Need.APPROVE,
    "POST /knowledge/owners": Need.INGEST,
    "GET /knowledge/documents": Need.READ,
    "GET /knowledge/document/{document_id:path}": Need.READ,
    "GET /knowledge/forget": Need.INGEST,
    "POST /knowledge/forget": Need.INGEST,
    "GET /knowledge/upload": Need.READ,
    "POST /knowledge/upload": Need.INGEST,
    "GET /knowledge/jobs/{job_id}": Need.READ,
    "GET /knowledge/incidents": Need.READ,
    "GET /knowledge/incidents/{node_id:path}": Need.READ,
    "GET /knowledge/coverage": Need.READ,
    "GET /knowledge/coverage/{family}": Need.READ,
}

INGESTION = {
    "POST /v1/documents": Need.INGEST,
    "POST /v1/ingestions": Need.INGEST,
    "GET /v1/ingestions": Need.READ,
    "GET /v1/ingestions/{job_id}": Need.READ,
    "GET /v1/ingestions/{job_id}/events": Need.READ,
    "GET /v1/roots": Need.READ,
    "GET /v1/sync-sources": Need.READ,
    "POST /v1/sync-sources": Need.ADMIN,
    "DELETE /v1/sync-sources/{name}": Need.ADMIN,
    "POST /v1/sync-sources/{name}/syncs": Need.INGEST,
    "GET /v1/sync-sources/{name}/syncs": Need.READ,
    "POST /v1/removals": Need.INGEST,
    "GET /v1/removals/cost": Need.READ,
    "GET /v1/folders": Need.READ,
    "GET /v1/contents/{document_id:path}": Need.READ,
    "GET /v1/owners": Need.READ,
    "PUT /v1/owners": Need.INGEST,
    "POST /v1/cases": Need.INGEST,
    "POST /v1/cases/removals": Need.INGEST,
    "POST /v1/doubts": Need.INGEST,
    "POST /v1/doubts/removals": Need.INGEST,
    "GET /v1/documents": Need.READ,
    "GET /v1/documents/{document_id:path}": Need.READ,
    "GET /v1/readings": Need.READ,
    "GET /v1/readings/export": Need.READ,
    # With `approve` it needs that scope too, which the endpoint asks for.
    "POST /v1/readings/import": Need.INGEST,
    "POST /v1/readings/waiting": Need.READ,
    "GET /v1/readings/{text_hash}": Need.READ,
    "PUT /v1/readings/{text_hash}": Need.APPROVE,
    "POST /v1/readings/{text_hash}/approvals": Need.APPROVE,
    "POST /v1/readings/{text_hash}/answers": Need.APPROVE,
    "POST /v1/readings/{text_hash}/undo": Need.APPROVE,
    "GET /v1/readings/{text_hash}/history": Need.READ,
}

RETRIEVAL = {
    "POST /v1/retrievals": Need.READ,
    "GET /v1/nodes": Need.READ,
    "GET /v1/nodes/{node_id:path}": Need.READ,
    "GET /v1/sources/{document_id:path}": Need.READ,
}

PLANNER = {
    "POST /v1/plans": Need.OPERATE,
    "POST /v1/plans/stream": Need.OPERATE,
}

SCORER = {
    "POST /v1/scores": Need.OPERATE,
}

AT_GATEWAY = {**GATEWAY, **INGESTION}
"""The gateway answers for ingestion too."""
