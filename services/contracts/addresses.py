"""Addresses of the platform and of services that run in a process of their own."""

from pydantic import Field, SecretStr

from services.kit.settings import Settings


class AddressSettings(Settings):
    """Addresses of the platform and of services in processes of their own."""

    url: str | None = Field(
        default=None,
        description="Address of a running FlowXpert that `flowxpert readings` talks to. Unset: the "
        "one that runs on the data folder, else the folder itself.",
    )
    token: SecretStr | None = Field(
        default=None,
        description="Bearer token or key that commands send to a running FlowXpert. Unset: "
        "FLOWXPERT_API_KEY.",
    )
    ingestion_url: str = Field(
        default="http://127.0.0.1:8081", description="Address of ingestion, for `serve gateway`."
    )
    retrieval_url: str = Field(
        default="http://127.0.0.1:8082", description="Address of retrieval, for `serve gateway`."
    )
    planner_url: str = Field(
        default="http://127.0.0.1:8083", description="Address of the planner, for `serve gateway`."
    )
    scorer_url: str = Field(
        default="http://127.0.0.1:8084", description="Address of the scorer, for `serve gateway`."
    )
    executor_url: str = Field(
        default="http://127.0.0.1:8085",
        description="Address of the executor, for `serve gateway`.",
    )
    gateway_url: str = Field(
        default="http://127.0.0.1:8080", description="Address of the gateway, for `serve executor`."
    )
