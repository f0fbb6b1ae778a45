from services.ingestion.structure.nodes import extract_nodes
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Document, IncidentNode, SectionRole

FAN = """\
# FanTrayDown

Raised when a fan tray of a leaf switch stops turning.

## Symptoms

The console prints "fan tray 2 is absent or failed" and the LED is amber.

```text
%PLATFORM-2-FAN_FAILED: Fan tray 2 stopped
```

## Possible causes

- The tray is loose
- The motor is worn out

## Verification

Run `show environment fan`.

## Remedy

1. Reseat the tray as told in [reseating](../hands/reseat.md).
2. Replace it: [spares](/hands/spares).

## Verification

All fans report ok.

## See also

- [Power supplies](power.md)
"""


def nodes_of(
    text: str, title: str = "", id_: str = "wiki/fan.md", **fields: str
) -> list[IncidentNode]:
    document = Document(
        id=id_, title=title or "FanTrayDown", text=text, content_hash="0", front_matter=dict(fields)
    )
    return extract_nodes(document, HashingEmbedder())


def roles_of(node: IncidentNode) -> list[tuple[str, SectionRole]]:
    ordered = sorted(node.all_passages(), key=lambda p: p.span.start_line)
    return [(p.heading_path[-1], p.role) for p in ordered]


def test_a_page_is_one_incident_whose_sections_have_roles() -> None:
    (node,) = nodes_of(FAN)
    assert node.name == "FanTrayDown"
    assert node.summary == "Raised when a fan tray of a leaf switch stops turning."
    assert roles_of(node) == [
        ("FanTrayDown", SectionRole.MEANING),
        ("Symptoms", SectionRole.SYMPTOM),
        ("Possible causes", SectionRole.CAUSE),
        ("Verification", SectionRole.CHECK),
        ("Remedy", SectionRole.REMEDY),
        ("Verification", SectionRole.VERIFICATION),
        ("See also", SectionRole.REFERENCE),
    ]


def test_every_passage_knows_its_lines() -> None:
    (node,) = nodes_of(FAN)
    lines = FAN.splitlines()
    for passage in node.all_passages():
        span = passage.span
        assert passage.text == "\n".join(lines[span.start_line - 1 : span.end_line])


def test_error_codes_and_quoted_messages_are_aliases() -> None:
    (node,) = nodes_of(FAN)
    assert "fan tray 2 is absent or failed" in node.aliases
    assert "%PLATFORM-2-FAN_FAILED" in node.aliases


def test_links_of_the_steps_are_kept_in_order_and_others_are_not() -> None:
    (node,) = nodes_of(FAN)
    assert node.linked_documents == ("hands/reseat.md", "hands/spares")


def test_front_matter_names_the_incident_too() -> None:
    (node,) = nodes_of(FAN, alert="SwitchFanFailed", error_message="fan speed 0 rpm")
    assert node.aliases[:2] == ("SwitchFanFailed", "fan speed 0 rpm")


def test_a_page_of_several_incidents_gives_a_node_for_each_besides_its_own() -> None:
    text = """\
# Optics

## LowRxPower

### Symptom
The receive power is below -14 dBm.
### Fix
Clean the connector.

## HighTemperature

### Symptom
The module is above 70 degrees.
### Fix
Check the airflow.
"""
    nodes = nodes_of(text, title="Optics")
    assert [node.name for node in nodes] == ["Optics", "LowRxPower", "HighTemperature"]
    assert [len(node.mitigation_steps) for node in nodes] == [2, 1, 1]


def test_a_table_of_faults_and_remedies_gives_a_node_per_row() -> None:
    text = """\
# Port LEDs

## What the colours mean

| Symptom | Likely cause | Action |
|---|---|---|
| LED is amber | low light | clean the optic |
| LED is dark | no module | insert a module |
"""
    nodes = nodes_of(text, title="Port LEDs")
    assert [node.name for node in nodes] == ["Port LEDs", "LED is amber", "LED is dark"]
    assert nodes[1].mitigation_steps[0].span.start_line == 7


def test_a_paragraph_labelled_with_its_role_is_a_passage_of_its_own() -> None:
    text = """\
# BGP session stuck in Active

**Cause:** the neighbour has another AS number.

**Fix:** correct `remote-as` and clear the session.
"""
    (node,) = nodes_of(text, title="BGP session stuck in Active")
    assert [passage.role for passage in node.failure_description] == [SectionRole.CAUSE]
    assert [passage.role for passage in node.mitigation_steps] == [SectionRole.REMEDY]


def test_a_colon_within_a_sentence_labels_nothing() -> None:
    text = "# CRC errors\n\n## Fix\n\nFollow the documentation: replace the cable first.\n"
    (node,) = nodes_of(text, title="CRC errors")
    assert [passage.heading_path for passage in node.mitigation_steps] == [("CRC errors", "Fix")]


def test_an_alert_name_is_not_taken_for_a_role() -> None:
    text = "# FanNotResponding\n\n## Meaning\n\nThe fan does not answer.\n"
    (node,) = nodes_of(text, title="FanNotResponding")
    assert roles_of(node) == [("Meaning", SectionRole.MEANING)]


def test_a_generic_title_gives_way_to_the_path() -> None:
    (node,) = nodes_of("# Symptoms\n\nRoutes vanish.\n", title="Symptoms", id_="bgp/route-loss.md")
    assert node.name == "route loss"


def test_a_section_below_the_remedy_mends_too() -> None:
    text = "# Power supply\n\n## Resolution\n\n### Swap the unit\n\nPull the lever.\n"
    (node,) = nodes_of(text, title="Power supply")
    assert roles_of(node) == [("Swap the unit", SectionRole.REMEDY)]


def test_an_empty_document_has_no_node() -> None:
    assert nodes_of("") == []


def test_labels_in_one_paragraph_part_it() -> None:
    text = "# Link down\n\nCause 1: The cable is loose.\nSolution: Seat the cable.\n"
    (node,) = nodes_of(text, title="Link down")
    assert roles_of(node) == [("Cause 1", SectionRole.CAUSE), ("Solution", SectionRole.REMEDY)]


def test_a_label_on_its_own_line_is_no_part_of_the_text() -> None:
    text = "# ARP table full\n\nDIAGNOSIS\nRun the summary.\n\nRESOLUTION\nLower the timeout.\n"
    (node,) = nodes_of(text, title="ARP table full")
    assert [passage.text for passage in node.mitigation_steps] == [
        "Run the summary.",
        "Lower the timeout.",
    ]


def test_a_definition_list_of_roles_is_parted() -> None:
    text = "# BGP flap\n\nCause\n: CoPP drops keepalives.\n\nResolution\n: Raise the CoPP rate.\n"
    (node,) = nodes_of(text, title="BGP flap")
    assert [role for _, role in roles_of(node)] == [SectionRole.CAUSE, SectionRole.REMEDY]


def test_numbered_instructions_below_a_description_are_a_procedure() -> None:
    text = "# Disk full\n\n## Why it matters\n\nLogs stop.\n\n1. Check the use.\n2. Rotate logs.\n"
    (node,) = nodes_of(text, title="Disk full")
    assert [role for _, role in roles_of(node)] == [SectionRole.IMPACT, SectionRole.PROCEDURE]
