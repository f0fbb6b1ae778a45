// Opens a citation's source at its lines. Every text goes into the page as text, never as HTML.

export async function openSource(link) {
  const answer = await fetch(link.dataset.source);
  const source = await answer.json();
  const dialog = document.getElementById("source");
  if (!answer.ok) source.document_title = source.detail;
  document.getElementById("source-title").textContent = source.document_title || source.document_id;
  document.getElementById("source-document").textContent = source.document_id ?? "";
  document.getElementById("source-link").href = link.href;
  const lines = (source.lines ?? []).map((text, index) => lineOf(source, text, index));
  document.getElementById("source-lines").replaceChildren(...lines);
  dialog.showModal();
  dialog.querySelector(".cited")?.scrollIntoView({ block: "center" });
}

function lineOf(source, text, index) {
  const number = source.first_line + index;
  const line = document.createElement("div");
  line.className = "line";
  if (source.start_line <= number && number <= source.end_line) line.classList.add("cited");
  for (const [name, content] of [["number", number], ["code", text]]) {
    const part = document.createElement("span");
    part.className = name;
    part.textContent = content;
    line.append(part);
  }
  return line;
}
