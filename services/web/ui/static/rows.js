// Rows of the work: the steps of a workflow, or the boxes of a page.

export const ROW = ":is(li.step, .box)";
export const NEXT = ":is(.step, .box).next";

// What of a row is in sight: a box may hold a list of others.
export function lineOf(row) {
  return row.querySelector(":scope > .lead") ?? row;
}
