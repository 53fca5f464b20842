/** How a list is given whole to those whose `Accept` names it: an item a line (NDJSON), or an Arrow IPC stream. */
export const wholeListTypes = {
  arrow: 'application/vnd.apache.arrow.stream',
  lines: 'application/x-ndjson',
} as const;

export type WholeListForm = keyof typeof wholeListTypes;
